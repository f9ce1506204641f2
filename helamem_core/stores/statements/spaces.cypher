// Spaces; one that is being filled or erased counts as absent.

// name: names
// All spaces.
// columns: name
MATCH (s:Space)
WHERE s.loading IS NULL
RETURN s.name AS name

// name: find
// One space by its name, which compares exactly.
// parameters: space
// columns: model, dimension, normalised
MATCH (s:Space {name: $space})
WHERE s.loading IS NULL
RETURN s.model AS model, s.dimension AS dimension, s.normalised AS normalised

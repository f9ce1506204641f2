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

// name: locked
// One space, locked; no row if there is none, or if it is being filled or erased.
// parameters: space
// columns: steps, embedded, model, dimension, normalised
MATCH (s:Space {name: $space})
SET s.lock = true
WITH s WHERE s.loading IS NULL
RETURN s.steps AS steps, s.embedded AS embedded, s.model AS model, s.dimension AS dimension, s.normalised AS normalised

// name: ours
// The space, locked, if it is still ours to fill or to erase.
// parameters: space, loader
// columns: name
MATCH (s:Space {name: $space})
SET s.lock = true
WITH s WHERE s.loader = $loader
RETURN s.name AS name

// The calendar line looks inside one space: its indexes filter while they search.
// A branch that is not taken looks for null, so that the planner cannot scan first and ask afterwards.

// name: nearest
// Memories near the query; all of the space where it is small.
// parameters: space, near, exact_up_to, everything
// scope: s, vector -> all, around
CALL (s, vector) {
  WITH s, vector, $everything OR s.memories <= $exact_up_to AS all
  CALL (s, vector, all) {
    CALL (s, vector, all) {
      MATCH (e:Episode {space: CASE WHEN all THEN $space END}) WHERE e.number IS NOT NULL
      RETURN e
      UNION
      WITH vector WHERE NOT all AND vector IS NOT NULL
      MATCH (e:Vector{width})
      SEARCH e IN (VECTOR INDEX helamem_memories_{width} FOR vector WHERE e.space = $space LIMIT $near)
      RETURN e
    }
    RETURN collect(e) AS around
  }
  RETURN all, around
}

// name: nearest_cues
// Cues near the raw query, and turns that served as cues. `depth`: the least cosine that was looked at, -1 if all were.
// parameters: space, near, exact_up_to, everything
// scope: s, cue -> asked, depth
CALL (s, cue) {
  WITH s, cue, $everything OR s.asked <= $exact_up_to AS all
  CALL (cue, all) {
    CALL (cue, all) {
      MATCH (c:Asked {space: CASE WHEN all AND cue IS NOT NULL THEN $space END}) WHERE c.embedding IS NOT NULL
      RETURN c, -1.0 AS cosine
      UNION ALL
      WITH cue WHERE NOT all AND cue IS NOT NULL
      MATCH (c:CueVector{width})
      SEARCH c IN (VECTOR INDEX helamem_cues_{width} FOR cue WHERE c.space = $space LIMIT $near) SCORE AS score
      RETURN c, 2 * score - 1 AS cosine
    }
    RETURN collect(c) AS asked, min(cosine) AS least
  }
  RETURN asked, CASE WHEN all OR size(asked) < $near THEN -1.0 ELSE least END AS depth
}

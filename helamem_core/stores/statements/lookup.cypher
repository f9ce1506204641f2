// What the vector indexes nominate: the formula judges it, whatever the index says.
// A branch that is not taken looks for null, so that the planner cannot scan first and ask afterwards.

// name: nearest
// Memories near the query. The index knows no spaces, so more are asked for where others share it, half as many again
// as their share calls for; where that is more work than to look at the whole space, all of it is nominated.
// parameters: space, near, exact_up_to, everything
// scope: s, vector -> all, around
CALL (s, vector) {
  WITH s, vector, COUNT { (:Vector{width}) } - s.embedded AS others
  WITH s, vector, toInteger(ceil($near * (1 + CASE WHEN others > 0 THEN 1.5 * others / (s.embedded + 1) ELSE 0 END))) AS wide
  WITH s, vector, wide, $everything OR s.memories <= $exact_up_to OR $exact_up_to > 0 AND s.memories <= wide AS all
  CALL (s, vector, wide, all) {
    CALL (s, vector, wide, all) {
      MATCH (e:Episode {space: CASE WHEN all THEN $space END}) WHERE e.number IS NOT NULL
      RETURN e
      UNION
      WITH vector, wide WHERE NOT all AND vector IS NOT NULL
      CALL db.index.vector.queryNodes('helamem_memories_{width}', wide, vector) YIELD node AS e
      WITH e WHERE e.space = $space
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
  WITH s, cue, COUNT { (:CueVector{width}) } - s.asked AS others
  WITH s, cue, toInteger(ceil($near * (1 + CASE WHEN others > 0 THEN 1.5 * others / (s.asked + 1) ELSE 0 END))) AS wide
  WITH s, cue, wide, $everything OR s.asked <= $exact_up_to OR $exact_up_to > 0 AND s.asked <= wide AS all
  CALL (cue, wide, all) {
    CALL (cue, wide, all) {
      MATCH (c:Asked {space: CASE WHEN all AND cue IS NOT NULL THEN $space END}) WHERE c.embedding IS NOT NULL
      RETURN c, -1.0 AS cosine
      UNION ALL
      WITH cue, wide WHERE NOT all AND cue IS NOT NULL
      CALL db.index.vector.queryNodes('helamem_cues_{width}', wide, cue) YIELD node AS c, score
      RETURN c, 2 * score - 1 AS cosine
    }
    RETURN collect(c) AS found, min(cosine) AS least
  }
  RETURN [c IN found WHERE c.space = $space] AS asked, CASE WHEN all OR size(found) < wide THEN -1.0 ELSE least END AS depth
}

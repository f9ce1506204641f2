// 2 What do you know?
// Memories with these words, the most used first, and the strongest links of each, as a graph.
MATCH (s:Space {name: $space}) WHERE s.loading IS NULL
MATCH (e:Episode {space: $space})
WHERE NOT e:Archived AND (e.expires_at IS NULL OR e.expires_at > timestamp() / 1000.0)
  AND all(word IN split(toLower(trim($about)), ' ') WHERE toLower(e.text) CONTAINS word)
WITH s, e ORDER BY e.uses DESC, e.number DESC LIMIT 12
CALL (s, e) {
  MATCH (e)-[r:ASSOCIATED|CUED|SIMILAR]-(other)
  WHERE NOT other:Archived
  WITH r, other,
  // include: formula.weight
  AS weight,
  // include: formula.floor
  AS floor
  WHERE weight >= floor
  WITH r, other ORDER BY weight DESC LIMIT 6
  RETURN collect(r) AS links, collect(other) AS others
}
RETURN e AS memory, links, others

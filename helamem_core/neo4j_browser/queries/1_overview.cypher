// 1 Overview
// The last 25 turns and the strongest links of each, as a graph.
MATCH (s:Space {name: $space}) WHERE s.loading IS NULL
MATCH (e:Episode {space: $space})
WHERE e.number >= 0 AND NOT e:Archived AND (e.expires_at IS NULL OR e.expires_at > timestamp() / 1000.0)
WITH s, e ORDER BY e.number DESC LIMIT 25
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
RETURN e AS turn, [(e)-[following:NEXT]->() | following] AS following, links, others

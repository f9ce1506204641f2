// 3 The same in words
// Memories with these words, how often they were of use, and what leads to them, with its weight now.
MATCH (s:Space {name: $space}) WHERE s.loading IS NULL
MATCH (e:Episode {space: $space})
WHERE NOT e:Archived AND (e.expires_at IS NULL OR e.expires_at > timestamp() / 1000.0)
  AND all(word IN split(toLower(trim($about)), ' ') WHERE toLower(e.text) CONTAINS word)
WITH s, e ORDER BY e.uses DESC, e.number DESC LIMIT 25
CALL (s, e) {
  MATCH (e)-[r:ASSOCIATED|CUED|SIMILAR]-(other)
  WHERE NOT other:Archived AND (type(r) <> 'CUED' OR e = endNode(r))
  WITH r, other,
  // include: formula.weight
  AS weight,
  // include: formula.floor
  AS floor
  WHERE weight >= floor
  WITH r, other, weight ORDER BY weight DESC LIMIT 6
  WITH toString(round(weight, 2)) + ' ' + type(r) + ' ' + left(coalesce(other.text, '(erased)'), 60) AS link
  RETURN reduce(links = '', link IN collect(link) | links + CASE links WHEN '' THEN '' ELSE '\n' END + link) AS links
}
RETURN e.said AS said, coalesce(e.speaker, e.role) AS who, e.uses AS used, left(e.text, 120) AS memory, links AS `linked with`

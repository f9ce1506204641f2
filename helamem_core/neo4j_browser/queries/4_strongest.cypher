// 4 Strongest associations
// Memories that were of use together, and what their link weighs now.
MATCH (s:Space {name: $space}) WHERE s.loading IS NULL
MATCH (a:Episode {space: $space})-[r:ASSOCIATED]->(b:Episode)
WHERE NOT a:Archived AND NOT b:Archived
WITH a, b, r,
// include: formula.weight
AS weight,
// include: formula.floor
AS floor
WHERE weight >= floor
WITH a, b, r, weight ORDER BY weight DESC, r.count DESC LIMIT 25
RETURN round(weight, 2) AS weight, r.count AS times, left(a.text, 60) AS memory, left(b.text, 60) AS `goes with`,
       left(replace(toString(datetime({epochSeconds: toInteger(r.since)})), 'T', ' '), 16) AS since,
       left(replace(toString(datetime({epochSeconds: toInteger(r.last_at)})), 'T', ' '), 16) AS `last time`

// 5 What faded?
// Links that weigh less now than when they last grew, the most faded first; a link that has died counts nowhere.
MATCH (s:Space {name: $space}) WHERE s.loading IS NULL
MATCH (a:Episode|Cue {space: $space})-[r:ASSOCIATED|CUED]->(b:Episode)
WITH a, b, r, r.weight AS before,
// include: formula.weight
AS weight,
// include: formula.floor
AS floor
WHERE weight < before
WITH a, b, r, before, weight, floor ORDER BY weight / before, weight LIMIT 25
RETURN round(before, 3) AS before, round(weight, 3) AS now, CASE WHEN weight < floor THEN 'dead' ELSE 'alive' END AS link,
       type(r) AS kind, left(coalesce(a.text, '(erased)'), 60) AS `from`, left(b.text, 60) AS `to`,
       left(replace(toString(datetime({epochSeconds: toInteger(r.last_at)})), 'T', ' '), 16) AS `last time`

// 8 How did this link grow?
// Links of the memories and cues with these words: how often they grew, since when, from which cues, and what they weigh.
MATCH (s:Space {name: $space}) WHERE s.loading IS NULL
MATCH (a:Episode|Cue {space: $space})-[r:ASSOCIATED|CUED]->(b:Episode)
WHERE all(word IN split(toLower(trim($about)), ' ') WHERE toLower(a.text) CONTAINS word)
   OR all(word IN split(toLower(trim($about)), ' ') WHERE toLower(b.text) CONTAINS word)
WITH a, b, r,
// include: formula.weight
AS weight
ORDER BY r.count DESC, weight DESC LIMIT 40
RETURN type(r) AS kind, r.count AS times, round(r.weight, 3) AS `weight then`, round(weight, 3) AS `weight now`,
       left(coalesce(a.text, '(erased)'), 60) AS `from`, left(b.text, 60) AS `to`,
       left(replace(toString(datetime({epochSeconds: toInteger(r.since)})), 'T', ' '), 16) AS since,
       left(replace(toString(datetime({epochSeconds: toInteger(r.last_at)})), 'T', ' '), 16) AS `last time`,
       CASE type(r) WHEN 'CUED' THEN left(coalesce(a.text, '(erased)'), 60)
         ELSE reduce(names = '', name IN [
           (cue)-[:CUED]->(a) WHERE EXISTS { (cue)-[:CUED]->(b) } | left(coalesce(cue.text, '(erased)'), 60)
         ] | names + CASE names WHEN '' THEN '' ELSE '\n' END + name)
       END AS `from cues`

// 7 Which cues led here?
// Memories with these words, and what called for them, as a graph.
MATCH (s:Space {name: $space}) WHERE s.loading IS NULL
MATCH (e:Episode {space: $space})
WHERE NOT e:Archived AND all(word IN split(toLower(trim($about)), ' ') WHERE toLower(e.text) CONTAINS word)
MATCH (cue)-[r:CUED]->(e)
WITH cue, r, e,
// include: formula.weight
AS weight,
// include: formula.floor
AS floor
WHERE weight >= floor
WITH cue, r, e ORDER BY weight DESC LIMIT 40
RETURN cue, r AS link, e AS memory

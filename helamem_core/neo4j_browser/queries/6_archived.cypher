// 6 What was put aside?
// Memories out of the active graph, the latest first, with the turns beside them.
MATCH (s:Space {name: $space}) WHERE s.loading IS NULL
MATCH (e:Archived {space: $space})
WITH e ORDER BY e.archived_at DESC LIMIT 25
OPTIONAL MATCH (e)-[r:NEXT]-(beside)
RETURN e AS memory, collect(r) AS links, collect(beside) AS beside

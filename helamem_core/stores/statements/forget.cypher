// Erase memories and cues with all that belonged to them.

// name: erase
// The turn after an erased one follows the turn before it. Cues that led only to erased memories go, others that led
// there lose their text. All is looked up before anything goes: a lookup costs more with each node that the transaction
// has deleted.
// parameters: space, ids
// columns: ids, links, cues
MATCH (s:Space {name: $space})
SET s.lock = true
WITH s WHERE s.loading IS NULL
CALL (s) {
  UNWIND $ids AS id
  MATCH (e:Episode {space: s.name, id: id})
  OPTIONAL MATCH (t:Staged {space: s.name, kind: 'episode', id: id})
  RETURN collect(e) AS gone, collect(id) AS ids, collect(t) AS staged
}
CALL (gone) {
  UNWIND gone AS e
  MATCH (c:Cue)-[:CUED]->(e)
  WITH DISTINCT c
  OPTIONAL MATCH (t:Staged {space: $space, kind: 'cue', id: c.id})
  RETURN collect({cue: c, staged: t}) AS led
}
CALL (gone) {
  UNWIND gone AS e
  MATCH (e)-[r:ASSOCIATED|CUED|SIMILAR]-()
  RETURN count(DISTINCT r) AS links
}
WITH s, gone, ids, staged, led, links, [e IN gone WHERE e.archived_at IS NULL] AS leaving,
     size([e IN gone WHERE e:Asked]) AS asked
SET s.asked = s.asked - asked
WITH s, gone, ids, staged, led, links, leaving
// include: nodes.leave
FOREACH (t IN staged | DELETE t)
WITH s, gone, ids, led, links
CALL (gone) {
  UNWIND gone AS e
  // include: forget.bridge
}
CALL (led) {
  UNWIND led AS row
  WITH row.cue AS c, row.staged AS t
  REMOVE c.text, c:Waiting
  WITH c, t WHERE NOT EXISTS { (c)-[:CUED]->() }
  DETACH DELETE c, t
  RETURN count(*) AS cues
}
SET s.cues = s.cues - cues, s.asked = s.asked - cues
RETURN ids, links, cues

// name: bridge
// One memory goes, after another, so that the turns on both sides of several are joined as well.
// scope: e
CALL (e) {
  OPTIONAL MATCH (before:Episode)-[:NEXT]->(e)
  OPTIONAL MATCH (e)-[:NEXT]->(after:Episode)
  FOREACH (_ IN CASE WHEN before IS NULL OR after IS NULL THEN [] ELSE [1] END | CREATE (before)-[:NEXT]->(after))
  DETACH DELETE e
}

// name: cues
// Cues that are named themselves.
// parameters: space, ids
// columns: links, cues
MATCH (s:Space {name: $space})
SET s.lock = true
WITH s WHERE s.loading IS NULL
CALL (s) {
  UNWIND $ids AS id
  MATCH (c:Cue {space: s.name, id: id})
  RETURN collect(c) AS idle, size(collect(c)) AS cues, sum(COUNT { (c)-[:CUED]->() }) AS links
}
// include: forget.drop
RETURN links, cues

// name: drop
// Cues go with their links.
// parameters: space
// scope: s, idle, cues
SET s.cues = s.cues - cues, s.asked = s.asked - cues
WITH *
CALL (idle) {
  UNWIND idle AS c
  OPTIONAL MATCH (t:Staged {space: $space, kind: 'cue', id: c.id})
  DETACH DELETE c, t
}

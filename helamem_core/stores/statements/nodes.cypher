// Memories by id, what several statements read of them, and how they enter and leave the counts.

// name: fetch
// Whole memories that exist.
// parameters: space, ids, now (null: expired ones too)
// columns: node
MATCH (s:Space {name: $space})
WHERE s.loading IS NULL
UNWIND $ids AS id
MATCH (e:Episode {space: $space, id: id})
WHERE $now IS NULL OR e.expires_at IS NULL OR e.expires_at > $now
RETURN
// include: nodes.whole
AS node

// name: held
// The space, locked, and which of these memories exist; no row where the space does not.
// parameters: space, ids, now (null: expired ones too)
// columns: model, dimension, normalised, held
MATCH (s:Space {name: $space})
SET s.lock = true
WITH s WHERE s.loading IS NULL
CALL (s) {
  UNWIND $ids AS id
  MATCH (e:Episode {space: s.name, id: id})
  WHERE $now IS NULL OR e.expires_at IS NULL OR e.expires_at > $now
  RETURN collect({id: e.id, archived: e.archived_at IS NOT NULL}) AS held
}
RETURN s.model AS model, s.dimension AS dimension, s.normalised AS normalised, held

// name: whole
// All that is kept of a memory `e`.
// scope: e
e {
  .id, .text, .role, .speaker, .session, .at, .recorded_at, .expires_at, .metadata, .keywords, .terms, .counts,
  .speaker_terms, .embedding, .archived_at, .fires, .uses, .last_used_at,
  previous: head([(before)-[:NEXT]->(e) | before.id])
}

// name: enter
// Active memories enter the counts that the formulas need, of the space and of its words.
// parameters: space
// scope: s, entering
CALL (s, entering) {
  UNWIND entering AS e
  WITH s, count(e) AS memories, count(e.embedding) AS embedded, sum(e.length) AS length
  SET s.memories = s.memories + memories, s.embedded = s.embedded + embedded, s.length = s.length + length
}
CALL (entering) {
  UNWIND entering AS e
  UNWIND e.terms AS term
  WITH term, count(*) AS more
  MERGE (k:Keyword {space: $space, term: term})
  SET k.memories = coalesce(k.memories, 0) + more
}

// name: leave
// Active memories leave them; a word that none has any more goes.
// parameters: space
// scope: s, leaving
CALL (s, leaving) {
  UNWIND leaving AS e
  WITH s, count(e) AS memories, count(e.embedding) AS embedded, sum(e.length) AS length
  SET s.memories = s.memories - memories, s.embedded = s.embedded - embedded, s.length = s.length - length
}
CALL (leaving) {
  UNWIND leaving AS e
  UNWIND e.terms AS term
  WITH term, count(*) AS fewer
  MATCH (k:Keyword {space: $space, term: term})
  SET k.memories = k.memories - fewer
  WITH k WHERE k.memories <= 0
  DELETE k
}

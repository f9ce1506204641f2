// Take memories out of the active graph and bring them back.

// name: archive
// They leave the counts and the indexes.
// parameters: space, ids, now
MATCH (s:Space {name: $space})
CALL () {
  UNWIND $ids AS id
  MATCH (e:Episode {space: $space, id: id})
  WHERE e.archived_at IS NULL
  RETURN collect(e) AS leaving
}
// include: nodes.leave
UNWIND leaving AS e
SET e.archived_at = $now, e:Archived
REMOVE e.postings
WITH e WHERE e.embedding IS NOT NULL
REMOVE e:$('Vector' + size(e.embedding))

// name: words
// What the full-text index will read of archived memories again is made of their words.
// parameters: space, ids
// columns: id, terms, counts
UNWIND $ids AS id
MATCH (e:Episode {space: $space, id: id})
WHERE e.archived_at IS NOT NULL
RETURN e.id AS id, e.terms AS terms, e.counts AS counts

// name: restore
// They enter the counts and the indexes again.
// parameters: space, rows (id, postings)
MATCH (s:Space {name: $space})
CALL () {
  UNWIND $rows AS row
  MATCH (e:Episode {space: $space, id: row.id})
  SET e.postings = row.postings
  REMOVE e.archived_at, e:Archived
  RETURN collect(e) AS entering
}
// include: nodes.enter
UNWIND entering AS e
WITH e WHERE e.embedding IS NOT NULL
SET e:$('Vector' + size(e.embedding))

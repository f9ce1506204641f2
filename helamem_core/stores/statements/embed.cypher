// Vectors that come later, and those of another model.

// name: pending
// Texts without a vector: memories before cues, the oldest first.
// parameters: space, limit, offset
// columns: kind, id, text
MATCH (s:Space {name: $space}) WHERE s.loading IS NULL
MATCH (e:Waiting {space: $space}) WHERE e.text IS NOT NULL
WITH e, e:Cue AS cue ORDER BY cue, e.number SKIP $offset LIMIT $limit
RETURN CASE WHEN cue THEN 'cue' ELSE 'episode' END AS kind, e.id AS id, e.text AS text

// name: found
// The memory or cue that a row is about, if its text is still the same. The first one counts of several rows.
// parameters: space
// scope: row -> e, vector
CALL (row) {
  WITH row WHERE row.kind = 'episode'
  MATCH (e:Episode {space: $space, id: row.id})
  RETURN e
  UNION ALL
  WITH row WHERE row.kind = 'cue'
  MATCH (e:Cue {space: $space, id: row.id})
  RETURN e
}
WITH e, row WHERE e.text = row.text

// name: embed
// Vectors for texts that wait for one.
// parameters: space, rows (kind, id, text, vector)
// columns: taken
UNWIND $rows AS row
// include: embed.found
WITH e, row WHERE e.embedding IS NULL
WITH e, head(collect(row.vector)) AS vector
CALL db.create.setNodeVectorProperty(e, 'embedding', vector)
// include: embed.labels
WITH count(e) AS taken, sum(CASE WHEN e:Episode AND e.archived_at IS NULL THEN 1 ELSE 0 END) AS active
MATCH (s:Space {name: $space})
SET s.embedded = s.embedded + active
RETURN taken

// name: labels
// A memory or cue `e` has its vector now: into the indexes.
// scope: e
REMOVE e:Waiting
FOREACH (_ IN CASE WHEN e:Episode AND e.archived_at IS NULL THEN [1] ELSE [] END |
  SET e:$('Vector' + size(e.embedding))
)
FOREACH (_ IN CASE WHEN e:Asked THEN [1] ELSE [] END | SET e:$('CueVector' + size(e.embedding)))

// name: stage
// Vectors of another model; what was staged for a text before is replaced.
// parameters: space, model, rows (kind, id, text, vector)
UNWIND $rows AS row
// include: embed.found
MERGE (t:Staged {space: $space, kind: row.kind, id: row.id})
SET t.model = $model.name, t.dimension = $model.dimension, t.normalised = $model.normalised
WITH t, row
CALL db.create.setNodeVectorProperty(t, 'vector', row.vector)

// name: unstaged
// Texts without a staged vector of the model: memories before cues, the oldest first.
// parameters: space, model, limit, offset
// columns: kind, id, text
MATCH (s:Space {name: $space}) WHERE s.loading IS NULL
CALL () {
  MATCH (e:Episode {space: $space}) WHERE e.number IS NOT NULL
  RETURN 'episode' AS kind, false AS cue, e
  UNION ALL
  MATCH (e:Cue {space: $space}) WHERE e.number IS NOT NULL AND e.text IS NOT NULL
  RETURN 'cue' AS kind, true AS cue, e
}
WITH kind, cue, e WHERE NOT EXISTS {
  MATCH (t:Staged {space: $space, kind: kind, id: e.id})
  WHERE t.model = $model.name AND t.dimension = $model.dimension AND t.normalised = $model.normalised
}
WITH kind, cue, e ORDER BY cue, e.number SKIP $offset LIMIT $limit
RETURN kind, e.id AS id, e.text AS text

// name: drop_others
// Staged vectors of any model but this one, a batch of them.
// parameters: space, model, batch
// columns: gone
MATCH (s:Space {name: $space})
SET s.lock = true
WITH s
MATCH (t:Staged {space: $space})
WHERE t.kind IS NOT NULL AND t.id IS NOT NULL
  AND NOT (t.model = $model.name AND t.dimension = $model.dimension AND t.normalised = $model.normalised)
WITH t LIMIT $batch
DELETE t
RETURN count(*) AS gone

// name: staged
// How many vectors are staged.
// parameters: space
// columns: staged
MATCH (t:Staged {space: $space})
WHERE t.kind IS NOT NULL AND t.id IS NOT NULL
RETURN count(t) AS staged

// name: drop_mute_cues
// Cues that cannot be embedded again.
// parameters: space
// columns: cues
MATCH (s:Space {name: $space})
CALL () {
  MATCH (c:Cue {space: $space}) WHERE c.number IS NOT NULL AND c.text IS NULL
  RETURN collect(c) AS idle, count(c) AS cues
}
// include: forget.drop
RETURN cues

// name: drop_similar
// The similarity links from the memories of a page: they belong to the old vectors.
// parameters: space, after, until
MATCH (e:Episode {space: $space})-[r:SIMILAR]->()
WHERE e.number > $after AND e.number <= $until
DELETE r

// name: drop_vectors
// The memories and cues of a page wait for a vector again.
// parameters: space, after, until
MATCH (s:Space {name: $space})
CALL () {
  MATCH (e:Episode {space: $space}) WHERE e.number > $after AND e.number <= $until AND e.embedding IS NOT NULL
  RETURN e
  UNION ALL
  MATCH (e:Cue {space: $space}) WHERE e.number > $after AND e.number <= $until AND e.embedding IS NOT NULL
  RETURN e
}
WITH s, collect(e) AS held
SET s.embedded = s.embedded - size([e IN held WHERE e:Episode AND e.archived_at IS NULL])
WITH held
UNWIND held AS e
REMOVE e:$(['Vector' + size(e.embedding), 'CueVector' + size(e.embedding)])
REMOVE e.embedding
SET e:Waiting

// name: adopt
// Staged vectors of the space's model become the vectors of texts that wait, a batch of them.
// parameters: space, batch
// columns: swapped
MATCH (s:Space {name: $space})
CALL (s) {
  MATCH (t:Staged {space: $space})
  WHERE t.kind IS NOT NULL AND t.id IS NOT NULL
    AND t.model = s.model AND t.dimension = s.dimension AND t.normalised = s.normalised
  RETURN t LIMIT $batch
}
CALL (t) {
  WITH t WHERE t.kind = 'episode'
  MATCH (e:Episode {space: $space, id: t.id})
  RETURN e
  UNION ALL
  WITH t WHERE t.kind = 'cue'
  MATCH (e:Cue {space: $space, id: t.id})
  RETURN e
}
WITH s, t, e, t.vector AS vector, e:Episode AND e.archived_at IS NULL AND e.embedding IS NULL AS enters
SET s.embedded = s.embedded + CASE WHEN enters THEN 1 ELSE 0 END
DELETE t
WITH e, vector
CALL (e, vector) {
  WITH e, vector WHERE e.embedding IS NULL
  CALL db.create.setNodeVectorProperty(e, 'embedding', vector)
  // include: embed.labels
}
RETURN count(*) AS swapped

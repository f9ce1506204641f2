// Export and import.

// name: memories
// The next memories, whole, in the order they came.
// parameters: space, after, size
// columns: number, node
MATCH (e:Episode {space: $space}) WHERE e.number > $after
WITH e ORDER BY e.space, e.number LIMIT $size
RETURN e.number AS number,
// include: nodes.whole
AS node

// name: cues
// The next cues in the order they came.
// parameters: space, after, size
// columns: number, id, text, vector, fires, last_at
MATCH (c:Cue {space: $space}) WHERE c.number > $after
WITH c ORDER BY c.number LIMIT $size
RETURN c.number AS number, c.id AS id, c.text AS text, c.embedding AS vector, c.fires AS fires, c.last_at AS last_at

// name: links_of_memories
// The learned and similarity links from the memories of a page.
// parameters: space, after, until
// columns: kind, source, target, weight, step, source_fires, target_fires, count, since, last_at
MATCH (a:Episode {space: $space}) WHERE a.number > $after AND a.number <= $until
// include: transfer.links

// name: links_of_cues
// The links from the cues of a page.
// parameters: space, after, until
// columns: as of `links_of_memories`
MATCH (a:Cue {space: $space}) WHERE a.number > $after AND a.number <= $until
// include: transfer.links

// name: links
// scope: a
MATCH (a)-[r:ASSOCIATED|CUED|SIMILAR]->(b)
WITH a, r, b, type(r) AS kind ORDER BY a.number, kind, b.number
RETURN kind, a.id AS source, b.id AS target, r.weight AS weight, r.step AS step, r.source_fires AS source_fires,
       r.target_fires AS target_fires, r.count AS count, r.since AS since, r.last_at AS last_at

// name: events
// Events that are not applied again.
// parameters: space
// columns: id, at
MATCH (v:Event {space: $space}) WHERE v.at IS NOT NULL
RETURN v.id AS id, v.at AS at ORDER BY at, id

// name: claim
// The space, ours to fill unless it holds memories: until that is done it counts as absent. What an import left that was
// cut short is no memory.
// parameters: space, loader
// columns: full
MERGE (s:Space {name: $space})
ON CREATE SET s.loading = true
SET s.lock = true
WITH s, s.loading IS NULL AND EXISTS { MATCH (e:Episode {space: $space}) WHERE e.number IS NOT NULL } AS full
FOREACH (_ IN CASE WHEN full THEN [] ELSE [1] END |
  SET s = {
    name: $space, lock: true, loading: true, loader: $loader, steps: 0, memories: 0, embedded: 0, length: 0, cues: 0,
    asked: 0, last_number: 0
  }
)
RETURN full

// name: add_cues
// parameters: rows (properties, labels, vector)
UNWIND $rows AS row
CREATE (c:Cue:Asked)
SET c = row.properties, c:$(row.labels)
WITH c, row WHERE row.vector IS NOT NULL
CALL db.create.setNodeVectorProperty(c, 'embedding', row.vector)

// name: add_links
// Links; turns that led to others are found as cues. No cue has the id of a memory.
// parameters: space, rows (kind, source, target, properties)
UNWIND $rows AS row
CALL (row) {
  MATCH (a:Episode {space: $space, id: row.source})
  RETURN a
  UNION ALL
  MATCH (a:Cue {space: $space, id: row.source})
  RETURN a
}
MATCH (b:Episode {space: $space, id: row.target})
CREATE (a)-[r:$(row.kind)]->(b)
SET r = row.properties
WITH DISTINCT a, row.kind AS kind
WHERE kind = 'CUED' AND NOT a:Asked
SET a:Asked
WITH a WHERE a.embedding IS NOT NULL
SET a:$('CueVector' + size(a.embedding))

// name: add_turns
// The order of turns.
// parameters: space, pairs (before, after)
UNWIND $pairs AS pair
MATCH (before:Episode {space: $space, id: pair[0]})
MATCH (after:Episode {space: $space, id: pair[1]})
CREATE (before)-[:NEXT]->(after)

// name: add_events
// parameters: space, rows (id, at)
UNWIND $rows AS row
CREATE (:Event {space: $space, id: row[0], at: row[1]})

// name: finish
// From now on the space is there for all.
// parameters: space, steps, model, cues, asked, last_number
MATCH (s:Space {name: $space})
SET s.steps = $steps, s.model = $model.name, s.dimension = $model.dimension, s.normalised = $model.normalised,
    s.cues = $cues, s.asked = $asked, s.last_number = $last_number
REMOVE s.loading, s.loader

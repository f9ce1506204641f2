// New memories: made, linked to the last one of their session, counted.
//
// What must be seen as it is once the space is locked is looked up by the name of the locked node: else the planner may
// look before it locks. Named by all its columns, an order is that of the index.

// name: begin
// The space, made if need be, and locked; which of these memories it holds, and the last one of each of these sessions.
// parameters: space, ids, sessions
// columns: model, dimension, normalised, last_number, loading, held, last
// include: remember.made
WITH s
CALL (s) {
  UNWIND $ids AS id
  MATCH (e:Episode {space: s.name, id: id})
  RETURN collect({id: e.id, expires_at: e.expires_at}) AS held
}
CALL (s) {
  UNWIND $sessions AS session
  CALL (s, session) {
    MATCH (e:Episode {space: s.name, session: session})
    USING INDEX e:Episode(space, session, number)
    WHERE e.number >= 0
    RETURN e.id AS id ORDER BY e.space DESC, e.session DESC, e.number DESC LIMIT 1
  }
  RETURN collect({session: session, id: id}) AS last
}
RETURN s.model AS model, s.dimension AS dimension, s.normalised AS normalised, s.last_number AS last_number,
       s.loading IS NOT NULL AS loading, held, last

// name: made
// parameters: space
// scope: -> s
MERGE (s:Space {name: $space})
ON CREATE SET s.steps = 0, s.memories = 0, s.embedded = 0, s.length = 0, s.cues = 0, s.asked = 0, s.last_number = 0
SET s.lock = true

// name: bind
// The space's first vectors bind it to their model.
// parameters: space, model
MATCH (s:Space {name: $space})
SET s.model = $model.name, s.dimension = $model.dimension, s.normalised = $model.normalised

// name: create
// Memories, in the order of their numbers, each after the one that it follows.
// parameters: space, rows (properties, labels, vector, before)
UNWIND $rows AS row
CREATE (e:Episode)
SET e = row.properties, e:$(row.labels)
WITH e, row
CALL (e, row) {
  WITH e, row WHERE row.vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(e, 'embedding', row.vector)
}
WITH e, row WHERE row.before IS NOT NULL
MATCH (before:Episode {space: $space, id: row.before})
CREATE (before)-[:NEXT]->(e)

// name: associate
// The paper's link between consecutive turns.
// parameters: space, pairs (before, after), weight
MATCH (s:Space {name: $space})
UNWIND $pairs AS pair
MATCH (before:Episode {space: $space, id: pair[0]})
MATCH (after:Episode {space: $space, id: pair[1]})
WITH s, after, CASE WHEN before.id < after.id THEN before ELSE after END AS source,
     CASE WHEN before.id < after.id THEN after ELSE before END AS target
CREATE (source)-[:ASSOCIATED {
  weight: $weight, step: s.steps, source_fires: source.fires, target_fires: target.fires, count: 0,
  since: after.recorded_at, last_at: after.recorded_at
}]->(target)

// name: cap
// The ends of new links are held to the largest degree.
// parameters: space, ends, c
// columns: cut
MATCH (s:Space {name: $space})
CALL () {
  UNWIND $ends AS id
  MATCH (e:Episode {space: $space, id: id})
  RETURN collect(e) AS touched
}
// include: reinforce.cap
RETURN cut

// name: count
// The counts that the formulas need: of words, and of the space.
// parameters: space, words (term, memories), memories, embedded, length, last_number
MATCH (s:Space {name: $space})
SET s.memories = s.memories + $memories, s.embedded = s.embedded + $embedded, s.length = s.length + $length,
    s.last_number = CASE WHEN $last_number > s.last_number THEN $last_number ELSE s.last_number END
WITH s
UNWIND $words AS word
MERGE (k:Keyword {space: $space, term: word[0]})
SET k.memories = coalesce(k.memories, 0) + word[1]

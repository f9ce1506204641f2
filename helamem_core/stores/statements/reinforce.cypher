// One Hebbian event in one statement: what fires together is linked, the rest fades by the clocks. The twin of
// `helamem_core.stores.reference.reinforce` and `helamem_core.dynamics.plasticity`.

// name: reinforce
// The space is locked first, so that writers take turns and no update is lost. Where an id is missing, or the event was
// applied before, nothing changes.
// parameters: space, q (ids (sorted), needed, event, turn, cue, cue_vector, model: what may be null), horizon, now, near,
//   exact_up_to, everything, c (the settings)
// columns: lost, applied, associated, cued, cue
// include: reinforce.begin
// include: lookup.nearest_cues
// include: reinforce.fire

// name: reinforce_by_words
// The same where the cue has no vector.
// parameters: space, q, horizon, now, c
// columns: lost, applied, associated, cued, cue
// include: reinforce.begin
WITH s, lost, go, cue, [] AS asked, -1.0 AS depth
// include: reinforce.fire

// name: begin
// scope: -> s, lost, go, cue
MATCH (s:Space {name: $space})
SET s.lock = true
WITH s WHERE s.loading IS NULL
CALL (s) {
  UNWIND $q.needed AS id
  OPTIONAL MATCH (e:Episode {space: s.name, id: id})
  WITH id, e WHERE e IS NULL OR e.expires_at <= $now
  RETURN collect(id) AS lost
}
CALL (lost) {
  WITH lost WHERE size(lost) = 0
  MATCH (old:Event {space: $space}) WHERE old.at < $horizon
  DELETE old
  RETURN count(*) AS forgotten
}
CALL (s, lost) {
  OPTIONAL MATCH (known:Event {space: s.name, id: $q.event})
  RETURN size(lost) = 0 AND known IS NULL AS go
}
FOREACH (_ IN CASE WHEN go AND $q.event IS NOT NULL THEN [1] ELSE [] END |
  CREATE (:Event {space: $space, id: $q.event, at: $now})
)
WITH s, lost, go, CASE WHEN go AND $q.cue IS NOT NULL AND ($q.model IS NULL OR
     s.model = $q.model.name AND s.dimension = $q.model.dimension AND s.normalised = $q.model.normalised) THEN $q.cue_vector
     END AS cue

// name: fire
// scope: s, lost, go, cue, asked, depth
// include: reinforce.same_cue
// include: reinforce.new_cue
CALL (go) {
  WITH go WHERE go
  UNWIND $q.ids AS id
  MATCH (e:Episode {space: $space, id: id})
  WITH e ORDER BY e.id
  RETURN collect(e) AS used
}
FOREACH (_ IN CASE WHEN go THEN [1] ELSE [] END | SET s.steps = s.steps + 1)
WITH s, lost, go, caller, used, [e IN used WHERE caller IS NULL OR e <> caller] AS called
// include: reinforce.associated
// include: reinforce.cued
FOREACH (e IN used | SET e.fires = e.fires + 1, e.uses = e.uses + 1, e.last_used_at = $now)
FOREACH (c IN CASE WHEN caller IS NULL OR caller IN used THEN [] ELSE [caller] END | SET c.fires = c.fires + 1)
WITH s, lost, go, caller, used, associated, cued,
     used + CASE WHEN caller IS NULL OR caller IN used THEN [] ELSE [caller] END AS touched
// include: reinforce.cap
RETURN lost, go AS applied, associated, cued, caller.id AS cue

// name: same_cue
// The cue that is meant: by its id, or the one most like it if that is as good as the same. If other spaces' cues
// crowded it out of the index's answer, all of the space's are looked at.
// scope: s, lost, go, cue, asked, depth -> own, same
CALL (go) {
  OPTIONAL MATCH (own:Cue {space: $space, id: $q.cue.id}) WHERE go
  RETURN own
}
CALL (go, own, cue, asked, depth) {
  CALL (go, own, cue, asked, depth) {
    WITH asked WHERE go AND own IS NULL AND cue IS NOT NULL AND depth < $c.cue_merge
    UNWIND asked AS c
    RETURN c
    UNION
    MATCH (c:Asked {
      space: CASE WHEN go AND own IS NULL AND cue IS NOT NULL AND depth >= $c.cue_merge THEN $space END
    }) WHERE c.embedding IS NOT NULL
    RETURN c
  }
  WITH c, 2 * vector.similarity.cosine(c.embedding, cue) - 1 AS cosine
  WHERE c:Cue AND cosine >= $c.cue_merge
  ORDER BY round(cosine, $c.digits, 'HALF_EVEN') DESC, c.id
  RETURN head(collect(c)) AS alike
}
WITH s, lost, go, cue, own, coalesce(own, alike) AS same

// name: new_cue
// The cue's node: the turn that is named, the same cue as before, or a new one; and the longest unused cue makes room.
// scope: s, lost, go, cue, own, same -> caller
CALL (s, go, cue, own, same) {
  WITH go WHERE go AND $q.turn IS NOT NULL
  MATCH (turn:Episode {space: $space, id: $q.turn})
  RETURN turn AS caller
  UNION
  WITH s, cue, go, same WHERE go AND $q.cue IS NOT NULL AND same IS NULL
  CREATE (made:Cue:Asked {space: $space, id: $q.cue.id, text: $q.cue.text, fires: 0, last_at: $now, number: s.last_number + 1})
  SET s.last_number = s.last_number + 1, s.cues = s.cues + 1, s.asked = s.asked + 1
  WITH s, cue, made
  CALL (cue, made) {
    WITH cue, made WHERE cue IS NOT NULL
    CALL db.create.setNodeVectorProperty(made, 'embedding', cue)
    SET made:$('CueVector' + size(cue))
    RETURN count(*) AS embedded
  }
  FOREACH (_ IN CASE WHEN cue IS NULL THEN [1] ELSE [] END | SET made:Waiting)
  WITH s, made
  CALL (s, made) {
    MATCH (old:Cue {space: CASE WHEN s.cues > $c.max_cues THEN $space END})
    WHERE old.last_at IS NOT NULL AND old <> made
    WITH s, old ORDER BY old.last_at, old.id LIMIT 1
    OPTIONAL MATCH (staged:Staged {space: $space, kind: 'cue', id: old.id})
    SET s.cues = s.cues - 1, s.asked = s.asked - 1
    DETACH DELETE old, staged
    RETURN count(*) AS dropped
  }
  RETURN made AS caller
  UNION
  WITH same, own, cue, go WHERE go AND same IS NOT NULL
  SET same.last_at = $now
  WITH same, own, cue
  CALL (same, own, cue) {
    WITH same, cue WHERE same = own
    SET same.text = $q.cue.text
    WITH same, cue WHERE same.embedding IS NULL AND cue IS NOT NULL
    CALL db.create.setNodeVectorProperty(same, 'embedding', cue)
    SET same:$('CueVector' + size(cue))
    REMOVE same:Waiting
    RETURN count(*) AS renewed
  }
  FOREACH (_ IN CASE WHEN same.embedding IS NULL AND same.text IS NOT NULL THEN [1] ELSE [] END | SET same:Waiting)
  RETURN same AS caller
  UNION
  WITH go WHERE NOT go OR $q.turn IS NULL AND $q.cue IS NULL
  RETURN null AS caller
}

// name: carried
// What a link `r` brings into the event, 0 for a new or dead one: `plasticity.carried`. The clocks have not fired yet,
// but the space's step is the event's own.
// scope: s, r
head([faded IN [CASE $c.clock WHEN 'steps' THEN s.steps - r.step
  ELSE startNode(r).fires - r.source_fires + endNode(r).fires - r.target_fires END]
  | CASE WHEN r.weight IS NULL THEN 0.0
         WHEN r.weight * (1 - $c.decay) ^ (faded - CASE $c.clock WHEN 'steps' THEN 1 ELSE 0 END) < $c.floor THEN 0.0
         ELSE r.weight * (1 - $c.decay) ^ faded END
])

// name: associated
// Every pair of the used memories, from the smaller id to the greater: `plasticity.strengthened`. Twelve decimals, so
// that Browser shows 0.3 and not 0.30000000000000004.
// scope: s, used -> associated
CALL (s, used) {
  UNWIND range(0, size(used) - 2) AS at
  UNWIND used[at + 1..] AS b
  WITH s, used[at] AS a, b
  MERGE (a)-[r:ASSOCIATED]->(b)
  WITH s, a, b, r,
  // include: reinforce.carried
  AS carried
  SET r.count = CASE WHEN carried > 0 THEN r.count ELSE 0 END + 1,
      r.since = CASE WHEN carried > 0 THEN r.since ELSE $now END,
      r.weight = round(CASE WHEN carried + $c.rate < $c.cap THEN carried + $c.rate ELSE $c.cap END, 12),
      r.step = s.steps, r.source_fires = a.fires + 1, r.target_fires = b.fires + 1, r.last_at = $now
  RETURN count(*) AS associated
}

// name: cued
// From what asked to each used memory.
// scope: s, caller, called -> cued
CALL (s, caller, called) {
  WITH s, caller, called WHERE caller IS NOT NULL
  FOREACH (_ IN CASE WHEN caller:Asked OR size(called) = 0 THEN [] ELSE [1] END |
    SET s.asked = s.asked + 1, caller:Asked
  )
  FOREACH (_ IN CASE WHEN caller.embedding IS NULL OR size(called) = 0 THEN [] ELSE [1] END |
    SET caller:$('CueVector' + size(caller.embedding))
  )
  WITH s, caller, called
  UNWIND called AS e
  MERGE (caller)-[r:CUED]->(e)
  WITH s, caller, e, r,
  // include: reinforce.carried
  AS carried
  SET r.count = CASE WHEN carried > 0 THEN r.count ELSE 0 END + 1,
      r.since = CASE WHEN carried > 0 THEN r.since ELSE $now END,
      r.weight = round(CASE WHEN carried + $c.cue_rate < $c.cap THEN carried + $c.cue_rate ELSE $c.cap END, 12),
      r.step = s.steps, r.source_fires = caller.fires + 1, r.target_fires = e.fires + 1, r.last_at = $now
  RETURN count(*) AS cued
}

// name: cap
// The weakest links go of nodes that have too many of a kind; both ends are judged before any goes:
// `plasticity.over_degree`.
// parameters: c
// scope: s, touched
CALL (s, touched) {
  CALL (s, touched) {
    UNWIND touched AS n
    WITH s, n WHERE COUNT { (n)-[:ASSOCIATED]-() } > $c.max_degree
    MATCH (n)-[r:ASSOCIATED]-(other)
    RETURN n, 'ASSOCIATED' AS role, r, other.id AS other
    UNION ALL
    UNWIND touched AS n
    WITH s, n WHERE COUNT { (n)-[:CUED]->() } > $c.max_degree
    MATCH (n)-[r:CUED]->(other)
    RETURN n, 'CUED' AS role, r, other.id AS other
    UNION ALL
    UNWIND touched AS n
    WITH s, n WHERE COUNT { (n)<-[:CUED]-() } > $c.max_degree
    MATCH (n)<-[r:CUED]-(other)
    RETURN n, 'ARRIVING' AS role, r, other.id AS other
  }
  WITH n, role, r, other,
  // include: formula.weight
  AS weight,
  // include: formula.floor
  AS floor
  WHERE weight >= floor
  WITH n, role, r ORDER BY round(weight, $c.digits, 'HALF_EVEN') DESC, other
  WITH n, role, collect(r)[$c.max_degree..] AS over
  UNWIND over AS r
  WITH DISTINCT r
  DELETE r
  RETURN count(*) AS cut
}

// Erase expired memories, archive weak ones, remove dead links and idle cues, write weights back: the twin of
// `helamem_core.stores.reference.ReferenceStore.fade`.

// name: expired
// Memories past their end, a batch of them; the space is locked. No row if there is no space.
// parameters: space, now, batch
// columns: ids
MATCH (s:Space {name: $space})
SET s.lock = true
WITH s WHERE s.loading IS NULL
CALL (s) {
  MATCH (e:Episode {space: s.name}) WHERE e.expires_at <= $now
  WITH e LIMIT $batch
  RETURN collect(e.id) AS ids
}
RETURN ids

// name: dead
// Links below the floor go; of those that arrive at the memories of a page.
// parameters: space, after, until, c
// columns: pruned
MATCH (s:Space {name: $space})
MATCH (e:Episode {space: $space}) WHERE e.number > $after AND e.number <= $until
MATCH (e)<-[r:ASSOCIATED|CUED|SIMILAR]-()
WITH r,
// include: formula.weight
AS weight,
// include: formula.floor
AS floor
WHERE weight < floor
DELETE r
RETURN count(r) AS pruned

// name: write_back
// Learned links weigh what they weigh now, and have read the clocks as they stand; those that arrive at a page.
// parameters: space, after, until, c
MATCH (s:Space {name: $space})
MATCH (e:Episode {space: $space}) WHERE e.number > $after AND e.number <= $until
MATCH (e)<-[r:ASSOCIATED|CUED]-(source)
WHERE r.step <> s.steps OR r.source_fires <> source.fires OR r.target_fires <> e.fires
WITH s, source, r, e,
// include: formula.weight
AS weight
SET r.weight = weight, r.step = s.steps, r.source_fires = source.fires, r.target_fires = e.fires

// name: idle_cues
// Cues that no link leads from go, a batch of them.
// parameters: space, batch
// columns: cues
MATCH (s:Space {name: $space})
SET s.lock = true
WITH s WHERE s.loading IS NULL
CALL (s) {
  MATCH (c:Cue {space: s.name}) WHERE c.number IS NOT NULL AND NOT EXISTS { (c)-[:CUED]->() }
  WITH c LIMIT $batch
  RETURN collect(c) AS idle, count(c) AS cues
}
// include: forget.drop
RETURN cues

// name: weak
// Active memories of a page that are old and were never used, without a link of weight: `forgetting.fades`. Weights were
// written back.
// parameters: space, after, until, now, weak, age
// columns: id
MATCH (e:Episode {space: $space})
WHERE e.number > $after AND e.number <= $until
  AND e.archived_at IS NULL AND e.uses = 0 AND $now - e.recorded_at > $age AND 0.0 < $weak
  AND (e.expires_at IS NULL OR e.expires_at > $now)
  AND NOT EXISTS { (e)-[r:ASSOCIATED|CUED|SIMILAR]-() WHERE r.weight >= $weak }
RETURN e.id AS id

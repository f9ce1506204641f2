// Erase a space with everything in it, batch by batch. Each is run until nothing is left.

// name: begin
// From now on the space counts as absent; an import into it gives up.
// parameters: space, loader
// columns: name
MATCH (s:Space {name: $space})
SET s.loading = true, s.loader = $loader
RETURN s.name AS name

// name: episodes
// Memories with their links, the oldest first.
// parameters: space, batch
// columns: ids, links
CALL () {
  MATCH (e:Episode {space: $space})
  WHERE e.number IS NOT NULL
  WITH e ORDER BY e.space, e.number LIMIT $batch
  RETURN collect(e) AS gone, collect(e.id) AS ids
}
CALL (gone) {
  UNWIND gone AS e
  MATCH (e)-[r:ASSOCIATED|CUED|SIMILAR]-()
  RETURN count(DISTINCT r) AS links
}
CALL (gone) {
  UNWIND gone AS e
  DETACH DELETE e
}
RETURN ids, links

// name: cues
// parameters: space, batch
// columns: cues
MATCH (c:Cue {space: $space})
WHERE c.id IS NOT NULL
WITH c LIMIT $batch
DETACH DELETE c
RETURN count(*) AS cues

// name: keywords
// parameters: space, batch
// columns: gone
MATCH (k:Keyword {space: $space})
WHERE k.term IS NOT NULL
WITH k LIMIT $batch
DETACH DELETE k
RETURN count(*) AS gone

// name: staged
// parameters: space, batch
// columns: gone
MATCH (t:Staged {space: $space})
WHERE t.kind IS NOT NULL AND t.id IS NOT NULL
WITH t LIMIT $batch
DETACH DELETE t
RETURN count(*) AS gone

// name: events
// parameters: space, batch
// columns: gone
MATCH (v:Event {space: $space})
WHERE v.id IS NOT NULL
WITH v LIMIT $batch
DETACH DELETE v
RETURN count(*) AS gone

// name: end
// The space itself.
// parameters: space
MATCH (s:Space {name: $space})
DETACH DELETE s

// Change a memory's content.

// name: text
// Another text, indexed anew. The old vector goes, staged or not, and the similarity links that belonged to it.
// parameters: space, id, content, postings, vector
MATCH (s:Space {name: $space})
MATCH (e:Episode {space: $space, id: $id})
WITH s, e, CASE WHEN e.archived_at IS NULL THEN [e] ELSE [] END AS active
WITH s, e, active, active AS leaving
// include: nodes.leave
CALL (e) {
  MATCH (e)-[r:SIMILAR]-()
  DELETE r
}
CALL () {
  MATCH (t:Staged {space: $space, kind: 'episode', id: $id})
  DELETE t
}
CALL (e) {
  WITH e WHERE e.embedding IS NOT NULL
  REMOVE e:$(['Vector' + size(e.embedding), 'CueVector' + size(e.embedding)])
  REMOVE e.embedding
}
SET e += $content, e.postings = CASE WHEN e.archived_at IS NULL THEN $postings END, e:Waiting
WITH s, e, active AS entering
CALL (e) {
  WITH e WHERE $vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(e, 'embedding', $vector)
  REMOVE e:Waiting
  SET e:$(CASE WHEN e.archived_at IS NULL THEN ['Vector' + size($vector)] ELSE [] END
        + CASE WHEN e:Asked THEN ['CueVector' + size($vector)] ELSE [] END)
}
// include: nodes.enter

// name: metadata
// Other metadata.
// parameters: space, id, metadata, facets
MATCH (e:Episode {space: $space, id: $id})
SET e.metadata = $metadata, e.facets = $facets

// name: expires_at
// Another end.
// parameters: space, id, expires_at
MATCH (e:Episode {space: $space, id: $id})
SET e.expires_at = $expires_at

// Counts of a space.

// name: stats
// Memories that have not expired; NEXT links and texts without a vector whether or not. A word does not count if only
// expired memories have it.
// parameters: space, now, c
// columns: model, dimension, normalised, steps, cues, memories, archived, unembedded, sessions, terms, followed, links
MATCH (s:Space {name: $space})
WHERE s.loading IS NULL
CALL () {
  MATCH (e:Episode {space: $space}) WHERE e.number IS NOT NULL
  WITH e, e.expires_at IS NULL OR e.expires_at > $now AS lives
  RETURN sum(CASE WHEN lives AND e.archived_at IS NULL THEN 1 ELSE 0 END) AS memories,
         sum(CASE WHEN lives AND e.archived_at IS NOT NULL THEN 1 ELSE 0 END) AS archived,
         count(DISTINCT CASE WHEN lives THEN e.session END) AS sessions,
         sum(COUNT { (e)<-[:NEXT]-() }) AS followed
}
CALL () {
  MATCH (w:Waiting {space: $space})
  RETURN count(w) AS unembedded
}
CALL () {
  MATCH (k:Keyword {space: $space})
  WHERE k.term IS NOT NULL
  RETURN count(k) AS words
}
CALL () {
  MATCH (e:Episode {space: $space})
  WHERE e.expires_at <= $now AND e.archived_at IS NULL
  UNWIND e.terms AS term
  WITH term, count(*) AS expired
  MATCH (k:Keyword {space: $space, term: term})
  WHERE k.memories <= expired
  RETURN count(k) AS dead
}
CALL (s) {
  MATCH (e:Episode {space: $space})<-[r:ASSOCIATED|CUED|SIMILAR]-() WHERE e.number IS NOT NULL
  WITH type(r) AS kind,
  // include: formula.weight
  AS weight,
  // include: formula.floor
  AS floor
  WHERE weight >= floor
  WITH kind, count(*) AS living
  RETURN collect({kind: kind, living: living}) AS links
}
RETURN s.model AS model, s.dimension AS dimension, s.normalised AS normalised, s.steps AS steps, s.cues AS cues,
       memories, archived, unembedded, sessions, words - dead AS terms, followed, links

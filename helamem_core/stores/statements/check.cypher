// What is inconsistent, over all spaces. Each block returns what it found of one kind of fault, by space.

// name: unfinished
// Spaces that were being filled or erased.
// columns: space, found
MATCH (s:Space)
WHERE s.loading
RETURN s.name AS space, 1 AS found

// name: lost
// Nodes of a space that is not there.
// columns: space, found
CALL () {
  MATCH (n:Episode) RETURN n
  UNION ALL
  MATCH (n:Cue) RETURN n
  UNION ALL
  MATCH (n:Keyword) RETURN n
  UNION ALL
  MATCH (n:Event) RETURN n
  UNION ALL
  MATCH (n:Staged) RETURN n
}
WITH n.space AS space, count(*) AS found
WHERE space IS NOT NULL AND NOT EXISTS { MATCH (s:Space {name: space}) }
RETURN space, found

// name: links
// Links between spaces, from or to what has no such links, or not from the smaller id to the greater; memories that
// follow more than one.
// columns: space, found
CALL () {
  MATCH (one)-[r:NEXT|ASSOCIATED|CUED|SIMILAR]->(other)
  WHERE (one:Episode|Cue OR other:Episode|Cue) AND (
    one.space <> other.space OR NOT other:Episode OR NOT one:Episode AND (type(r) <> 'CUED' OR NOT one:Cue)
    OR type(r) IN ['ASSOCIATED', 'SIMILAR'] AND one.id >= other.id OR one = other
  )
  RETURN coalesce(one.space, other.space) AS space
  UNION ALL
  MATCH (e:Episode)
  WHERE COUNT { (e)<-[:NEXT]-() } > 1
  RETURN e.space AS space
}
RETURN space, count(*) AS found

// name: episodes
// Memories whose labels and index entries are not those of their properties.
// columns: space, found
MATCH (e:Episode)
WITH e, e.archived_at IS NULL AS active, e.embedding IS NOT NULL AS embedded,
     [label IN labels(e) WHERE label STARTS WITH 'Vector'] AS indexed,
     [label IN labels(e) WHERE label STARTS WITH 'CueVector'] AS asks
WHERE e:Archived = active
   OR e:Waiting = embedded
   OR indexed <> CASE WHEN active AND embedded THEN ['Vector' + size(e.embedding)] ELSE [] END
   OR asks <> CASE WHEN e:Asked AND embedded THEN ['CueVector' + size(e.embedding)] ELSE [] END
   OR NOT e:Asked AND EXISTS { (e)-[:CUED]->() }
   OR (e.postings IS NOT NULL) <> (active AND size(e.terms) > 0)
   OR size(e.terms) <> size(e.counts)
   OR e.length <> reduce(sum = 0, each IN e.counts | sum + each)
RETURN e.space AS space, count(e) AS found

// name: cues
// The same of cues.
// columns: space, found
MATCH (c:Cue)
WITH c, c.embedding IS NOT NULL AS embedded, [label IN labels(c) WHERE label STARTS WITH 'CueVector'] AS indexed
WHERE NOT c:Asked
   OR c:Waiting = (embedded OR c.text IS NULL)
   OR indexed <> CASE WHEN embedded THEN ['CueVector' + size(c.embedding)] ELSE [] END
RETURN c.space AS space, count(c) AS found

// name: vectors
// Vectors of another width than the model's.
// columns: space, found
MATCH (s:Space)
MATCH (n:Episode|Cue {space: s.name})
WHERE size(n.embedding) <> s.dimension
RETURN s.name AS space, count(n) AS found

// name: counts
// Counts that the formulas need, and that are not true.
// columns: space, found
MATCH (s:Space)
WHERE s.loading IS NULL
CALL (s) {
  MATCH (e:Episode {space: s.name})
  WHERE e.archived_at IS NULL
  RETURN count(e) AS memories, count(e.embedding) AS embedded, sum(e.length) AS length
}
CALL (s) {
  MATCH (n:Episode|Cue {space: s.name})
  RETURN coalesce(max(n.number), 0) AS last_number, sum(CASE WHEN n:Cue THEN 1 ELSE 0 END) AS cues,
         sum(CASE WHEN n:Asked THEN 1 ELSE 0 END) AS asked
}
WITH s.name AS space,
     size([same IN [s.memories = memories, s.embedded = embedded, s.length = length, s.cues = cues, s.asked = asked,
                    s.last_number >= last_number] WHERE NOT same]) AS found
WHERE found > 0
RETURN space, found

// name: words
// Words whose count is not the number of active memories that have them.
// columns: space, found
CALL () {
  MATCH (k:Keyword)
  RETURN k.space AS space, k.term AS term, k.memories AS said
  UNION ALL
  MATCH (e:Episode)
  WHERE e.archived_at IS NULL
  UNWIND e.terms AS term
  RETURN e.space AS space, term, -1 AS said
}
WITH space, term, sum(said) AS over, max(said) AS most
WHERE over <> 0 OR most <= 0
RETURN space, count(term) AS found

// What the latency benchmark compares with: the lookups and writes alone, without scores, reasons, links and checks.

// name: near
// The nearest memories.
// parameters: space, vector, k
// columns: id, score
CALL db.index.vector.queryNodes('helamem_memories_{width}', $k, $vector) YIELD node, score
WHERE node.space = $space
RETURN node.id AS id, score

// name: words
// The memories that share words.
// parameters: space, postings, k
// columns: id, score
CALL db.index.fulltext.queryNodes('helamem_words', $postings, {limit: $k}) YIELD node, score
WHERE node.space = $space
RETURN node.id AS id, score

// name: write
// The same nodes, in the same indexes.
// parameters: rows (properties, labels, vector)
UNWIND $rows AS row
CREATE (e:Episode)
SET e = row.properties, e:$(row.labels)
WITH e, row
CALL db.create.setNodeVectorProperty(e, 'embedding', row.vector)

// name: count
// The same statistics of words.
// parameters: space, words (term, memories)
UNWIND $words AS word
MERGE (k:Keyword {space: $space, term: word[0]})
SET k.memories = coalesce(k.memories, 0) + word[1]

// The calendar line's own lookup.

// name: near
// The nearest memories.
// parameters: space, vector, k
// columns: id, score
MATCH (e:Vector{width})
SEARCH e IN (VECTOR INDEX helamem_memories_{width} FOR $vector WHERE e.space = $space LIMIT $k) SCORE AS score
RETURN e.id AS id, score

// On the calendar line the vector indexes know the space.

// name: memories
// The index of memories by meaning, filtered by space. Quantisation would lose neighbours.
CREATE VECTOR INDEX helamem_memories_{width} IF NOT EXISTS FOR (e:Vector{width}) ON (e.embedding) WITH [e.space]
OPTIONS {indexConfig: {
  `vector.dimensions`: {width}, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false
}}

// name: cues
CREATE VECTOR INDEX helamem_cues_{width} IF NOT EXISTS FOR (c:CueVector{width}) ON (c.embedding) WITH [c.space]
OPTIONS {indexConfig: {
  `vector.dimensions`: {width}, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false
}}

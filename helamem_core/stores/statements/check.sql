-- What is inconsistent, over all spaces.

-- name: lost_links
-- Links with a dead end.
-- columns: space, found
SELECT coalesce(p.name, l.space) AS space, count(*) AS found
FROM links AS l LEFT JOIN spaces AS p ON p.space = l.space
WHERE NOT EXISTS (SELECT 1 FROM episodes AS t WHERE t.number = l.target AND t.space = l.space)
    OR NOT (
        EXISTS (SELECT 1 FROM episodes AS s WHERE s.number = l.source AND s.space = l.space)
        OR EXISTS (SELECT 1 FROM cues AS c WHERE c.number = l.source AND c.space = l.space)
    )
GROUP BY l.space

-- name: lost_previous
-- Memories that follow one that is gone.
-- columns: space, found
SELECT coalesce(p.name, e.space) AS space, count(*) AS found
FROM episodes AS e LEFT JOIN spaces AS p ON p.space = e.space
WHERE e.previous IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM episodes AS b WHERE b.number = e.previous AND b.space = e.space)
GROUP BY e.space

-- name: words
-- Memories whose index entries are not their words (none, while archived).
-- columns: space, found
WITH indexed AS (SELECT episode, count(*) AS words, sum(tf) AS total FROM postings GROUP BY episode)
SELECT coalesce(p.name, e.space) AS space, count(*) AS found
FROM episodes AS e LEFT JOIN indexed AS i ON i.episode = e.number LEFT JOIN spaces AS p ON p.space = e.space
WHERE coalesce(i.total, 0) <> CASE WHEN e.archived_at IS NULL THEN e.length ELSE 0 END
    OR coalesce(i.words, 0) <> CASE WHEN e.archived_at IS NULL THEN (SELECT count(*) FROM json_each(e.terms)) ELSE 0 END
GROUP BY e.space

-- name: lost_words
-- Index entries of memories that are gone.
-- columns: space, found
SELECT coalesce(p.name, w.space) AS space, count(*) AS found
FROM postings AS w LEFT JOIN spaces AS p ON p.space = w.space
WHERE NOT EXISTS (SELECT 1 FROM episodes AS e WHERE e.number = w.episode AND e.space = w.space)
GROUP BY w.space

-- name: vectors
-- Memories that are marked as embedded and have no vector, or the reverse, or one of another width than the model's.
-- columns: space, found
SELECT p.name AS space, count(*) AS found
FROM (SELECT number, space, embedded FROM episodes UNION ALL SELECT number, space, embedded FROM cues) AS n
JOIN spaces AS p ON p.space = n.space LEFT JOIN vectors AS v ON v.number = n.number
WHERE n.embedded <> (v.number IS NOT NULL) OR length(v.vector) <> 4 * p.dimension
GROUP BY p.space

-- name: lost_vectors
-- Vectors of nothing.
-- columns: space, found
SELECT 'of no memory' AS space, found
FROM (
    SELECT count(*) AS found FROM vectors AS v
    WHERE NOT EXISTS (SELECT 1 FROM episodes AS e WHERE e.number = v.number)
        AND NOT EXISTS (SELECT 1 FROM cues AS c WHERE c.number = v.number)
)
WHERE found > 0

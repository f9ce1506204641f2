// Going through a space page by page.

// name: size
// parameters: space
// columns: memories
MATCH (e:Episode {space: $space}) WHERE e.number IS NOT NULL
RETURN count(e) AS memories

// name: page
// The next memories of a space, which is locked: the number of the last one, null at the end. No row if there is no
// space, or if it is being filled or erased.
// parameters: space, after, size
// columns: last
MATCH (s:Space {name: $space})
SET s.lock = true
WITH s WHERE s.loading IS NULL
CALL (s) {
  CALL (s) {
    MATCH (e:Episode {space: s.name}) WHERE e.number > $after
    RETURN e.number AS number ORDER BY e.space, e.number LIMIT $size
  }
  RETURN max(number) AS last
}
RETURN last

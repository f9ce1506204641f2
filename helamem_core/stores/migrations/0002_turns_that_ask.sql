-- Turns that called for others are found without reading every link; expired memories without reading every memory.
ALTER TABLE episodes ADD COLUMN asks INTEGER NOT NULL DEFAULT 0;
UPDATE episodes SET asks = 1 WHERE number IN (SELECT source FROM links WHERE kind = 'CUED');
CREATE INDEX episodes_expiry ON episodes (space, expires_at) WHERE expires_at IS NOT NULL;

PRAGMA user_version = 2;

// Replaces the password that a new server has; until then it does nothing else.
ALTER CURRENT USER SET PASSWORD FROM $old TO $new

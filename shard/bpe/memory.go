package bpe

// makeTable makes a table that is looked into at random. Large ones get huge pages where the system has them:
// with pages of 4 KB, most looks into 8 MB wait for the page's address too.
func makeTable[T any](n int) []T {
	table := make([]T, n)
	adviseHuge(table)
	return table
}

// makeSlots makes a table of n empty slots.
func makeSlots(n int) []uint64 {
	slots := makeTable[uint64](n)
	for i := range slots {
		slots[i] = emptySlot
	}
	return slots
}

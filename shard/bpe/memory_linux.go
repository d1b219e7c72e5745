package bpe

import (
	"syscall"
	"unsafe"
)

// adviseHuge asks for huge pages under a table and what lies around it in their first and last. It is a
// wish: where the kernel grants none, nothing changes.
func adviseHuge[T any](table []T) {
	const page, hugePage = 2 << 20, 14 // MADV_HUGEPAGE
	size := uintptr(len(table)) * unsafe.Sizeof(*new(T))
	if size < page/4 {
		return
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(table)))
	from := start &^ (page - 1)
	end := (start + size + page - 1) &^ (page - 1)
	syscall.Syscall(syscall.SYS_MADVISE, from, end-from, hugePage)
}

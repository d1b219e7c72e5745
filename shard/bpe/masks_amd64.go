package bpe

// hasAVX2 tells whether classifyAVX2 may be called.
var hasAVX2 = detectAVX2()

// classifyAVX2 is classifyWords in the assembly of masks_amd64.s.
//
//go:noescape
func classifyAVX2(codes *[128]byte, b *[64]byte, m *masks)

// detectAVX2 asks the processor, and whether the system saves its registers.
func detectAVX2() bool

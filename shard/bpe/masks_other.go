//go:build !amd64

package bpe

const hasAVX2 = false

func classifyAVX2(_ *[128]byte, _ *[64]byte, _ *masks) {}

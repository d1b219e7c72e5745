//go:build !linux

package bpe

func adviseHuge[T any](_ []T) {}

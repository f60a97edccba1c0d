//go:build !amd64 || noasm

package simd

func brainTile(Level) (Tile, bool) { return Tile{}, false }

func brainPairs(*byte, int, *byte, int, int, int) { panic("simd: no products of bfloat16") }

func brainRows(*byte, int, *byte, int, int, int) { panic("simd: no products of bfloat16") }

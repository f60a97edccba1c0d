package kernel

import (
	"math"
	"math/bits"
)

// Random draws floats: uniform in [0,1), or standard normal. It takes no operands. A draw is
// counter-based: element i depends on the kernel's Key, the Ctx's Seed and Step, and i alone, so
// any worker may compute any part, and any draw may be repeated. It is the value of the functions
// Uniform, Normal (F64), Uniform32 and Normal32 (F32) for i. Several runs of one step draw
// different numbers by different seeds: see Stream.
type Random struct {
	apart
	Key    uint64
	Normal bool
}

// Flops counts ten per element, for the rounds of the generator.
func (Random) Flops(out Layout, _ []Layout) int64 { return 10 * int64(out.Len()) }

// Bind takes no operands.
func (k Random) Bind(out Layout, _ []Layout) Bound {
	n := out.Len()
	switch out.DType {
	case F32:
		f := uniform32
		if k.Normal {
			f = normal32
		}
		return Bound{blocks(n, tileLen), func(c *Ctx, lo, hi int) {
			dst, key := raw[float32](c.Out), mixKey(k.Key, c.Seed)
			for i := lo * tileLen; i < min(hi*tileLen, n); i += 4 {
				for j, w := range philox(uint64(i/4), c.Step, key) {
					if i+j < n {
						dst[i+j] = f(w)
					}
				}
			}
		}}
	case F64:
		f := uniform64
		if k.Normal {
			f = normal64
		}
		return Bound{blocks(n, tileLen), func(c *Ctx, lo, hi int) {
			dst, key := raw[float64](c.Out), mixKey(k.Key, c.Seed)
			for i := lo * tileLen; i < min(hi*tileLen, n); i += 2 {
				w := philox(uint64(i/2), c.Step, key)
				dst[i] = f(join(w[0], w[1]))
				if i+1 < n {
					dst[i+1] = f(join(w[2], w[3]))
				}
			}
		}}
	}
	panic(unsupported(k, out.DType))
}

// Uniform returns element i of a float64 draw: 53 random bits, in [0,1).
func Uniform(key, seed, step, i uint64) float64 { return uniform64(word64(key, seed, step, i)) }

// Uniform32 returns element i of a float32 draw: 24 random bits, in [0,1).
func Uniform32(key, seed, step, i uint64) float32 { return uniform32(word32(key, seed, step, i)) }

// Normal returns element i of a standard normal float64 draw, √2·erf⁻¹(2u-1) for one uniform u of
// 52 bits, taken in the middle of its interval: it is finite, at most 8.3, and symmetric.
func Normal(key, seed, step, i uint64) float64 { return normal64(word64(key, seed, step, i)) }

// Normal32 returns element i of a standard normal float32 draw, as Normal but for 32 bits: it is at
// most 6.4.
func Normal32(key, seed, step, i uint64) float32 { return normal32(word32(key, seed, step, i)) }

// KeyOf hashes a name to a key: FNV-1a, 64 bits.
func KeyOf(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return h
}

func word64(key, seed, step, i uint64) uint64 {
	w := philox(i/2, step, mixKey(key, seed))
	return join(w[i%2*2], w[i%2*2+1])
}

func word32(key, seed, step, i uint64) uint32 {
	w := philox(i/4, step, mixKey(key, seed))
	return w[i%4]
}

func join(lo, hi uint32) uint64 { return uint64(hi)<<32 | uint64(lo) }

func uniform64(w uint64) float64 { return float64(w>>11) * 0x1p-53 }
func uniform32(w uint32) float32 { return float32(w>>8) * 0x1p-24 }

// The odd numerators keep 2u-1, which is exact, away from 0 and ±1.
func normal64(w uint64) float64 {
	return math.Sqrt2 * math.Erfinv(float64(2*int64(w>>12)+1-1<<52)*0x1p-52)
}

func normal32(w uint32) float32 {
	return float32(math.Sqrt2 * math.Erfinv(float64(2*int64(w)+1-1<<32)*0x1p-32))
}

// gamma is the increment of SplitMix64, 2^64 over the golden ratio.
const gamma = 0x9e3779b97f4a7c15

// Stream returns the seed for a run that so many runs of the same step came before: the first run
// draws with the seed itself. mixKey turns the streams of a seed into the outputs of SplitMix64 in
// their order, so that all of them differ. The streams of two seeds differ too where seeds and runs
// are below 2^31, because n·gamma is further than 2^31 from 0 for every n below 2^31: the multiples
// of no number stay away from 0 as long as the golden ratio's.
func Stream(seed, run uint64) uint64 { return seed + run*gamma }

// mixKey makes the generator's key from a draw's key and a seed. The finaliser of SplitMix64
// (Steele, Lea and Flood 2014) spreads seeds that differ in few bits, so that seed and key do not
// cancel.
func mixKey(key, seed uint64) uint64 {
	z := seed + gamma
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return key ^ z ^ z>>31
}

// philox is Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1,
// 2, 3" (SC 2011): the counter's low half is the number of the block, its high half the step.
func philox(block, step, key uint64) [4]uint32 {
	c0, c1, c2, c3 := uint32(block), uint32(block>>32), uint32(step), uint32(step>>32)
	k0, k1 := uint32(key), uint32(key>>32)
	for range 10 {
		h0, l0 := bits.Mul32(0xd2511f53, c0)
		h1, l1 := bits.Mul32(0xcd9e8d57, c2)
		c0, c1, c2, c3 = h1^c1^k0, l1, h0^c3^k1, l0
		k0 += 0x9e3779b9
		k1 += 0xbb67ae85
	}
	return [4]uint32{c0, c1, c2, c3}
}

// Draw returns element i of a draw as a kernel writes it for the dtype, in float64: for references
// and initialisers.
func Draw(dt DType, normal bool, key, seed, step, i uint64) float64 {
	switch {
	case dt == F32 && normal:
		return float64(Normal32(key, seed, step, i))
	case dt == F32:
		return float64(Uniform32(key, seed, step, i))
	case normal:
		return Normal(key, seed, step, i)
	}
	return Uniform(key, seed, step, i)
}

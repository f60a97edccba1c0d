package kernel

import (
	"math"
	"math/bits"
)

// A Law is a distribution of random numbers.
type Law string

// The laws. Those of floats have a function of 64 random bits for F64 and one of 32 for F32; that of
// whole numbers has one of 64.
const (
	LawUniform   Law = ""          // of floats in [0, 1): 53 and 24 bits
	LawNormal    Law = "normal"    // standard normal: √2·erf⁻¹(2u−1), at most 8.3 and 6.4
	LawGumbel    Law = "gumbel"    // standard Gumbel: −log(−log u), from −3.7 to 37 and from −3.2 to 23
	LawTruncated Law = "truncated" // standard normal between two bounds: Φ⁻¹ of a uniform number
	LawWhole     Law = "whole"     // of whole numbers from Lo to Hi − 1, all alike to 2⁻⁶⁴·(Hi − Lo)
)

// Random draws numbers by a law. A draw is counter-based: element i depends on the kernel's Key, the
// Ctx's Seed and Step, and i alone, so any worker may compute any part, and any draw may be repeated.
// It is the value of Draw for i. Several runs of one step draw different numbers by different seeds:
// see Stream. Operands are scalars of type I64, times of the steps of loops that the draw stands in,
// which change the key: see At.
type Random struct {
	apart
	Key    uint64
	Law    Law
	Lo, Hi float64 // bounds of LawTruncated and LawWhole
}

// Flops counts ten per element, for the rounds of the generator.
func (Random) Flops(out Layout, _ []Layout) int64 { return 10 * int64(out.Len()) }

// Bind makes the loop over the blocks of the generator.
func (k Random) Bind(out Layout, in []Layout) Bound {
	n := out.Len()
	at := func(c *Ctx) uint64 {
		key := k.Key
		for i, l := range in {
			key = At(key, raw[int64](c.In[i])[l.Offset])
		}
		return key
	}
	switch {
	case out.DType == F32 && k.Law != LawWhole:
		f := k.float32()
		return Bound{blocks(n, tileLen), func(c *Ctx, lo, hi int) {
			dst, key := raw[float32](c.Out), mixKey(at(c), c.Seed)
			for i := lo * tileLen; i < min(hi*tileLen, n); i += 4 {
				for j, w := range philox(uint64(i/4), c.Step, key) {
					if i+j < n {
						dst[i+j] = f(w)
					}
				}
			}
		}}
	case out.DType == F64 && k.Law != LawWhole:
		return bindWords(at, n, k.float64())
	case out.DType == I32 && k.Law == LawWhole:
		return bindWords(at, n, func(w uint64) int32 { return int32(k.whole(w)) })
	case out.DType == I64 && k.Law == LawWhole:
		return bindWords(at, n, k.whole)
	}
	panic(unsupported(k, out.DType))
}

// bindWords makes n elements of 64 random bits each, with the draw's key at the times that a run is at.
func bindWords[T any](at func(*Ctx) uint64, n int, f func(uint64) T) Bound {
	return Bound{blocks(n, tileLen), func(c *Ctx, lo, hi int) {
		to := min(hi*tileLen, n)
		from := min(lo*tileLen, to)
		words(raw[T](c.Out)[from:to], from, c.Step, mixKey(at(c), c.Seed), f)
	}}
}

// words makes the elements of a draw from an even number on.
func words[T any](dst []T, from int, step, key uint64, f func(uint64) T) {
	for i := 0; i < len(dst); i += 2 {
		w := philox(uint64((from+i)/2), step, key)
		dst[i] = f(join(w[0], w[1]))
		if i+1 < len(dst) {
			dst[i+1] = f(join(w[2], w[3]))
		}
	}
}

// float64 returns the law as a function of 64 random bits.
func (k Random) float64() func(uint64) float64 {
	switch k.Law {
	case LawNormal:
		return normal64
	case LawGumbel:
		return gumbel64
	case LawTruncated:
		f := truncated(k.Lo, k.Hi)
		return func(w uint64) float64 { return f(middle64(w)) }
	}
	return uniform64
}

// float32 returns the law as a function of 32 random bits.
func (k Random) float32() func(uint32) float32 {
	switch k.Law {
	case LawNormal:
		return normal32
	case LawGumbel:
		return gumbel32
	case LawTruncated:
		f, lo, hi := truncated(k.Lo, k.Hi), float32(k.Lo), float32(k.Hi)
		return func(w uint32) float32 { return max(lo, min(hi, float32(f(middle32(w))))) }
	}
	return uniform32
}

// whole returns a whole number from Lo to Hi − 1 by the upper half of a product (Lemire, 2019,
// without rejection).
func (k Random) whole(w uint64) int64 {
	up, _ := bits.Mul64(w, uint64(int64(k.Hi)-int64(k.Lo)))
	return int64(k.Lo) + int64(up)
}

// KeyOf hashes a name to a key: FNV-1a, 64 bits.
func KeyOf(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return h
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

// middle64 and middle32 are uniform numbers in the middle of their intervals, of 52 and 32 bits:
// neither 0 nor 1.
func middle64(w uint64) float64 { return (float64(w>>12) + .5) * 0x1p-52 }
func middle32(w uint32) float64 { return (float64(w) + .5) * 0x1p-32 }

func gumbel64(w uint64) float64 { return -math.Log(-math.Log(middle64(w))) }
func gumbel32(w uint32) float32 { return float32(-math.Log(-math.Log(middle32(w)))) }

// truncated returns the function of a uniform number that is distributed as a standard normal number
// given that it is from lo to hi. It works in the tail to the left of 0, where Φ has its digits, and
// mirrors bounds that are both positive.
func truncated(lo, hi float64) func(u float64) float64 {
	sign := 1.0
	if lo > 0 {
		lo, hi, sign = -hi, -lo, -1
	}
	from, to := normalBelow(lo), normalBelow(hi)
	return func(u float64) float64 { return sign * max(lo, min(hi, normalQuantile(from+u*(to-from)))) }
}

// Truncates reports whether normal numbers from lo to hi can be drawn: whether the bounds are in order,
// and not both so far from 0 that float64 has no probability of what lies between them.
func Truncates(lo, hi float64) bool {
	if lo > 0 {
		lo, hi = -hi, -lo
	}
	return lo < hi && normalBelow(hi) > normalBelow(lo)
}

// normalBelow is Φ(x), the probability of a standard normal number below x.
func normalBelow(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// normalQuantile is Φ⁻¹(p) for 0 < p < 1. Where p is so small that 1 − p has few of its digits, which
// math.Erfcinv takes, it starts from the asymptotic expansion and improves log Φ by Newton's method.
func normalQuantile(p float64) float64 {
	if p > 1e-3 {
		return math.Sqrt2 * math.Erfinv(2*p-1)
	}
	t := math.Sqrt(-2 * math.Log(p))
	x := math.Log(t*math.Sqrt(2*math.Pi))/t - t
	for range 4 {
		below := normalBelow(x)
		density := math.Exp(-x*x/2) / math.Sqrt(2*math.Pi)
		x -= math.Log(below/p) * below / density
	}
	return x
}

// gamma is the increment of SplitMix64, 2^64 over the golden ratio.
const gamma = 0x9e3779b97f4a7c15

// Stream returns the seed for a run that so many runs of the same step came before: the first run
// draws with the seed itself. mixKey turns the streams of a seed into the outputs of SplitMix64 in
// their order, so that all of them differ. The streams of two seeds differ too where seeds and runs
// are below 2^31, because n·gamma is further than 2^31 from 0 for every n below 2^31: the multiples
// of no number stay away from 0 as long as the golden ratio's.
func Stream(seed, run uint64) uint64 { return seed + run*gamma }

// At returns the key of a draw at a time of a loop, from its key or from that at the time of an
// inner loop: SplitMix64's output number time of the state key. The order of the times counts, and
// the result is not the key for any time.
func At(key uint64, time int64) uint64 { return mixKey(0, key+uint64(time)*gamma) }

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

// Fill writes elements of a draw of floats, from an even number on, as the kernel writes them for F64:
// for initialisers.
func (k Random) Fill(dst []float64, seed, step uint64, from int) {
	words(dst, from, step, mixKey(k.Key, seed), k.float64())
}

// Draw returns element i of a draw as the kernel writes it for the dtype, in float64: for references.
func (k Random) Draw(dt DType, seed, step, i uint64) float64 {
	if dt == F32 && k.Law != LawWhole {
		return float64(k.float32()(philox(i/4, step, mixKey(k.Key, seed))[i%4]))
	}
	w := philox(i/2, step, mixKey(k.Key, seed))
	word := join(w[i%2*2], w[i%2*2+1])
	if k.Law == LawWhole {
		return float64(k.whole(word))
	}
	return k.float64()(word)
}

package simd

import "os"

// Level is an instruction set.
type Level uint8

// The instruction sets, from the slowest.
const (
	Portable Level = iota // plain Go
	AVX2                  // amd64 with AVX2, FMA and BMI2
	AVX512                // amd64 with AVX-512 F, DQ, BW and VL
)

// String returns the name that TAPESTRY_ISA takes.
func (l Level) String() string {
	switch l {
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	}
	return "portable"
}

// Best returns the fastest level that this machine and this build have.
func Best() Level { return best }

// Active returns the level in use: the best one, or the one that the environment variable
// TAPESTRY_ISA names (portable, avx2, avx512), if the machine has it.
func Active() Level { return active }

var best, active = detect(), choose(os.Getenv("TAPESTRY_ISA"))

func choose(name string) Level {
	top := detect()
	for l := range top {
		if l.String() == name {
			return l
		}
	}
	return top
}

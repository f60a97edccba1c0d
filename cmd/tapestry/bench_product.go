package main

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/simd"
)

// product is the shape of a matrix product [m k]·[k n]; aT and bT say which operands are
// transposed in memory.
type product struct {
	batch, m, n, k int
	aT, bT         bool
}

// products has cubes and the products of the workloads' steps.
var products = []product{
	{1, 64, 64, 64, false, false}, {1, 128, 128, 128, false, false}, {1, 256, 256, 256, false, false},
	{1, 1024, 1024, 1024, false, false},
	{1, 256, 256, 256, true, false}, {1, 256, 256, 256, false, true},
	{1, 4096, 64, 64, false, false}, {1, 64, 64, 4096, true, false}, {8, 512, 64, 64, false, false}, // clustering
	{1, 128, 512, 784, false, false}, {1, 784, 512, 128, true, false}, {1, 128, 512, 256, false, true}, // perceptron
	{1, 512, 128, 128, false, false}, {1, 512, 512, 128, false, false}, {32, 64, 64, 32, false, true}, // attention
	{1, 32, 1024, 256, false, false}, {1, 32, 256, 1024, false, true}, // LSTM
	{1, 8, 64, 64, false, false}, {1, 1, 512, 784, false, false}, {1, 1, 512, 784, false, true}, // few rows
}

// productFigure is one line of --gemm.
type productFigure struct {
	Peer   string  `json:"peer"`
	Kernel string  `json:"kernel"`
	DType  string  `json:"dtype"`
	ISA    string  `json:"isa"`
	Batch  int     `json:"batch"`
	M      int     `json:"m"`
	N      int     `json:"n"`
	K      int     `json:"k"`
	Form   string  `json:"form"` // NN, TN, NT: which operands are transposed
	Rate   float64 `json:"gflops"`
	Peak   float64 `json:"peak_gflops"`
	Share  float64 `json:"share_of_peak"`
}

const productHeading = "product m×n×k          form dtype     GFLOP/s      peak  share"

// String returns a row of the table under productHeading.
func (f productFigure) String() string {
	shape := fmt.Sprintf("%d×%d×%d", f.M, f.N, f.K)
	if f.Batch > 1 {
		shape = fmt.Sprintf("%d of %s", f.Batch, shape)
	}
	return fmt.Sprintf("%-22s %-4s %-7s %9.2f %9.2f %5.1f%%", shape, f.Form, f.DType, f.Rate, f.Peak, 100*f.Share)
}

func (b *bench) timeProducts(ctx context.Context) error {
	if err := b.heading(productHeading); err != nil {
		return err
	}
	for _, dt := range b.types {
		for _, p := range products {
			f, err := b.timeProduct(ctx, p, dt)
			if err != nil {
				return err
			}
			if err := b.row(f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bench) timeProduct(ctx context.Context, p product, dt graph.DType) (productFigure, error) {
	operand := func(rows, columns int, t bool) (timedArray, string) {
		if t {
			return filled(kernel.DType(dt), -1, 1, p.batch, columns, rows).transposed(), "T"
		}
		return filled(kernel.DType(dt), -1, 1, p.batch, rows, columns), "N"
	}
	x, formX := operand(p.m, p.k, p.aT)
	y, formY := operand(p.k, p.n, p.bT)
	run, flops := bound(kernel.MatMul{}, filled(kernel.DType(dt), 0, 0, p.batch, p.m, p.n), x, y)
	loop, most := peak(dt)
	t, err := perCall(ctx, b.duration(), run, loop)
	if err != nil {
		return productFigure{}, err
	}
	rate, top := float64(flops)/t[0]/1e9, float64(most)/t[1]/1e9
	return productFigure{b.peer(), "gemm", dtypeName(dt), simd.Active().String(), p.batch, p.m, p.n, p.k, formX + formY,
		to3(rate), to3(top), to3(rate / top)}, nil
}

// peak returns a loop of independent multiply-adds, and the operations of one call: the highest
// rate that a product can reach on this core.
func peak(dt graph.DType) (run func(), flops int64) {
	const iterations = 10_000 // about 20 µs
	loop := simd.Peak(simd.Active(), 8*dt.Size())
	return func() { loop(iterations) }, loop(iterations)
}

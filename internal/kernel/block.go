package kernel

// The innermost loops of products. Sums live in registers: 4×2 of them and 6 operands are what 15 of amd64's hold, where a term
// needs no more temporaries; the others are done in halves of 2×2.

// dotBlock is Σ a·b.
func dotBlock[T float](t *block[T]) {
	b0 := t.b[0]
	n := len(b0)
	b1 := t.b[1][:n]
	a0, a1, a2, a3 := t.a[0][:n], t.a[1][:n], t.a[2][:n], t.a[3][:n]
	var s00, s01, s10, s11, s20, s21, s30, s31 T
	for p := range b0 {
		y0, y1 := b0[p], b1[p]
		x := a0[p]
		s00 += T(x * y0)
		s01 += T(x * y1)
		x = a1[p]
		s10 += T(x * y0)
		s11 += T(x * y1)
		x = a2[p]
		s20 += T(x * y0)
		s21 += T(x * y1)
		x = a3[p]
		s30 += T(x * y0)
		s31 += T(x * y1)
	}
	t.sums = [...]T{s00, s01, s10, s11, s20, s21, s30, s31}
}

// distanceBlock is Σ (a - b)².
func distanceBlock[T float](t *block[T]) {
	b0 := t.b[0]
	n := len(b0)
	b1 := t.b[1][:n]
	a0, a1, a2, a3 := t.a[0][:n], t.a[1][:n], t.a[2][:n], t.a[3][:n]
	var s00, s01, s10, s11, s20, s21, s30, s31 T
	for p := range b0 {
		y0, y1 := b0[p], b1[p]
		x := a0[p]
		d, e := x-y0, x-y1
		s00 += T(d * d)
		s01 += T(e * e)
		x = a1[p]
		d, e = x-y0, x-y1
		s10 += T(d * d)
		s11 += T(e * e)
		x = a2[p]
		d, e = x-y0, x-y1
		s20 += T(d * d)
		s21 += T(e * e)
		x = a3[p]
		d, e = x-y0, x-y1
		s30 += T(d * d)
		s31 += T(e * e)
	}
	t.sums = [...]T{s00, s01, s10, s11, s20, s21, s30, s31}
}

// shiftedBlock is Σ a·(x - b), with x as long as a.
func shiftedBlock[T float](t *block[T]) {
	b0 := t.b[0]
	n := len(b0)
	b1 := t.b[1][:n]
	for i := 0; i < tileRows; i += 2 {
		a0, a1, x0, x1 := t.a[i][:n], t.a[i+1][:n], t.x[i][:n], t.x[i+1][:n]
		var s00, s01, s10, s11 T
		for p := range b0 {
			y0, y1 := b0[p], b1[p]
			u, x := a0[p], x0[p]
			s00 += T(u * (x - y0))
			s01 += T(u * (x - y1))
			u, x = a1[p], x1[p]
			s10 += T(u * (x - y0))
			s11 += T(u * (x - y1))
		}
		copy(t.sums[i*tileCols:], []T{s00, s01, s10, s11})
	}
}

// centredBlock is Σ a·(x - b), with one x for each sum.
func centredBlock[T float](t *block[T]) {
	b0 := t.b[0]
	n := len(b0)
	b1 := t.b[1][:n]
	for i := 0; i < tileRows; i += 2 {
		a0, a1 := t.a[i][:n], t.a[i+1][:n]
		x := t.xs[i*tileCols:][:4]
		x00, x01, x10, x11 := x[0], x[1], x[2], x[3]
		var s00, s01, s10, s11 T
		for p := range b0 {
			y0, y1 := b0[p], b1[p]
			u := a0[p]
			s00 += T(u * (x00 - y0))
			s01 += T(u * (x01 - y1))
			u = a1[p]
			s10 += T(u * (x10 - y0))
			s11 += T(u * (x11 - y1))
		}
		copy(t.sums[i*tileCols:], []T{s00, s01, s10, s11})
	}
}

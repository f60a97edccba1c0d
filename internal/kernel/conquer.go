package kernel

import "math"

// conquerOrder is the order of the tridiagonal matrices that are not divided.
const conquerOrder = 32

// conquer finds the eigenvalues and eigenvectors of rows from to to of a tridiagonal matrix of order n,
// with diagonal d and elements e beside it: those replace d, and these are rows of v, which has zeros
// there. The matrix is two of half the order and a product of a vector with itself; see Cuppen, A divide
// and conquer method for the symmetric tridiagonal eigenproblem (1981), and Gu and Eisenstat, A
// divide-and-conquer algorithm for the symmetric tridiagonal eigenproblem (1995). The largest element
// is near 1, or all are 0. Scratch has 2n² + 2n numbers.
func (w *Worker) conquer(d, e, v, scratch []float64, n, from, to int) {
	if to-from <= conquerOrder {
		for i := from; i < to; i++ {
			v[i*n+i] = 1
		}
		diagonalise(d[from:to], e[from:to], matrix64{v, n, 1}.from(from, from))
		return
	}
	mid := from + (to-from)/2
	beside := e[mid-1]
	size, sign := math.Abs(beside), math.Copysign(1, beside)
	d[mid-1] -= size
	d[mid] -= size
	w.conquer(d, e, v, scratch, n, from, mid)
	w.conquer(d, e, v, scratch, n, mid, to)
	rows, z := matrix64{v, n, 1}.from(from, from), scratch[:to-from]
	ascend(d[from:to], rows)
	for i := range z {
		row := rows.line(i, mid-from+1)
		z[i] = (row[mid-from-1] + sign*row[mid-from]) / math.Sqrt2
	}
	w.unite(d[from:to], z, rows, 2*size, scratch[n:])
}

// ascend puts values in order, and the rows of v with them.
func ascend(d []float64, v matrix64) {
	for j := range d {
		least := j
		for i := j + 1; i < len(d); i++ {
			if d[i] < d[least] {
				least = i
			}
		}
		if least != j {
			d[j], d[least] = d[least], d[j]
			swap(v.line(j, len(d)), v.line(least, len(d)))
		}
	}
}

// unite replaces d, in ascending order, by the eigenvalues of its diagonal matrix plus size times the
// product of the unit vector z with itself, and turns the rows of v by the eigenvectors. Scratch has twice
// as many numbers as v, and as many as d.
func (w *Worker) unite(d, z []float64, v matrix64, size float64, scratch []float64) {
	n := len(d)
	k := deflate(d, z, v, size)
	roots, turns, old := scratch[:k], scratch[k:k+k*k], scratch[k+k*k:k+k*k+k*n]
	d, z = d[:k], z[:k]
	for j := range k {
		copy(old[j*n:(j+1)*n], v.line(j, n))
		clear(v.line(j, n))
		roots[j] = secular(turns[j*k:(j+1)*k], d, z, size, j)
	}
	// Eigenvectors are orthogonal where they are those of the z of which these roots are exact.
	for i := range k {
		square := turns[i*k+i]
		for j := range k {
			if j != i {
				square *= turns[j*k+i] / (d[i] - d[j])
			}
		}
		z[i] = math.Copysign(math.Sqrt(math.Abs(square)), z[i])
	}
	for j := range k {
		row := turns[j*k : (j+1)*k]
		for i := range row {
			row[i] = z[i] / row[i]
		}
		divide(row, norm(row))
	}
	w.addProduct(v, matrix64{turns, k, 1}, matrix64{old, n, 1}, 1, k, n, k, false)
	copy(d, roots)
}

// deflate brings those values, elements of z and rows of v first that take part in the sum, and returns how
// many they are. The others are eigenvalues and eigenvectors already, to rounding: an element of z is 0, or
// is made 0 by turning it with another one whose value is equal.
func deflate(d, z []float64, v matrix64, size float64) (kept int) {
	n, largest := len(d), max(size, 0x1p-500)
	for _, x := range d {
		largest = max(largest, math.Abs(x))
	}
	nothing := 0x1p-50 * largest
	for i := range n {
		if size*math.Abs(z[i]) <= nothing {
			continue
		}
		to := kept
		if kept > 0 {
			h := math.Hypot(z[kept-1], z[i])
			c, s := z[i]/h, z[kept-1]/h
			if x, y := d[kept-1], d[i]; math.Abs((y-x)*c*s) <= nothing {
				turn(v.line(kept-1, n), v.line(i, n), c, s)
				d[kept-1], d[i] = float64(x*c*c)+float64(y*s*s), float64(x*s*s)+float64(y*c*c)
				z[kept-1], z[i] = 0, h
				to, kept = kept-1, kept-1
			}
		}
		if kept++; to != i {
			d[to], d[i] = d[i], d[to]
			z[to], z[i] = z[i], z[to]
			swap(v.line(to, n), v.line(i, n))
		}
	}
	return kept
}

// secular returns root j of 1/size + Σ z²/(d−x), which follows d[j], and sets apart to d−x, without
// cancellation. Steps go to the root of a function with two of the poles; see Li, Solving secular equations
// stably and efficiently (1993). Where one leaves the interval that has the root, it is divided instead.
func secular(apart, d, z []float64, size float64, j int) (root float64) {
	last := len(d) - 1
	origin, left := d[j], min(j, last-1)
	if last == 0 {
		apart[0] = -size * z[0] * z[0]
		return d[0] - apart[0]
	}
	var low, high, x float64 // of the root, after the origin
	if j < last {
		high = (d[j+1] - d[j]) / 2
		if x = high; sums(apart, d, z, origin, x, size, left).value < 0 {
			origin, low, high, x = d[j+1], -high, 0, -high
		}
	} else {
		high = size * dot(z, z) * (1 + 0x1p-40)
		x = high / 2
	}
	for range maxSweeps {
		f := sums(apart, d, z, origin, x, size, left)
		if math.Abs(f.value) <= 0x1p-51*f.size {
			break
		}
		if f.value < 0 {
			low = x
		} else {
			high = x
		}
		p, q := apart[left], apart[left+1]
		a := float64((p+q)*f.value) - float64(p*q*(f.slopeLeft+f.slopeRight))
		b, c := p*q*f.value, f.value-float64(p*f.slopeLeft)-float64(q*f.slopeRight)
		r := math.Sqrt(math.Abs(float64(a*a) - float64(4*b*c)))
		if j == last {
			r = -r
		}
		step := 2 * b / (a + r)
		if (a <= 0) == (j < last) {
			step = (a - r) / (2 * c)
		}
		next := x + step
		if !(step*f.value < 0) || !(next > low && next < high) {
			switch {
			case low == 0:
				next = high / 16
			case high == 0:
				next = low / 16
			default:
				next = (low + high) / 2
			}
		}
		if math.Abs(next-x) <= 0x1p-53*math.Abs(x) {
			break
		}
		x = next
	}
	return origin + x
}

// secularSums is the value of 1/size + Σ z²/(d−x), the sum of magnitudes, and the slopes of the terms on
// either side of the root.
type secularSums struct{ value, size, slopeLeft, slopeRight float64 }

// sums computes them at x after the origin, and d−x.
func sums(apart, d, z []float64, origin, x, size float64, left int) secularSums {
	apart, z = apart[:len(d)], z[:len(d)]
	side := func(from, to int) (sum, slope float64) {
		for i := from; i < to; i++ {
			p := d[i] - origin - x
			apart[i] = p
			t := z[i] / p
			sum += float64(z[i] * t)
			slope += float64(t * t)
		}
		return sum, slope
	}
	a, slopeLeft := side(0, left+1)
	b, slopeRight := side(left+1, len(d))
	return secularSums{1/size + a + b, 1/size + math.Abs(a) + math.Abs(b), slopeLeft, slopeRight}
}

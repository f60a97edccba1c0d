package main

import (
	"errors"

	"gonum.org/v1/gonum/mat"
)

// principalAngles are those between the spans of two sets of k vectors, in degrees, the
// smallest first: if Q and P are orthonormal bases, the singular values of QᵀP are their cosines
// (Björck & Golub, 1973). All are 0 where the spans are the same.
func principalAngles(a, b [][]float64) ([]float64, error) {
	q, err := basis(a)
	if err != nil {
		return nil, err
	}
	p, err := basis(b)
	if err != nil {
		return nil, err
	}
	var product mat.Dense
	product.Mul(q.T(), p)
	var svd mat.SVD
	if !svd.Factorize(&product, mat.SVDNone) {
		return nil, errNotConverged
	}
	angles := svd.Values(nil)
	for i, c := range angles {
		angles[i] = degrees(c)
	}
	return angles, nil
}

var errNotConverged = errors.New("principal angles: the decomposition did not converge")

// basis returns orthonormal columns with the same span as the vectors.
func basis(vectors [][]float64) (*mat.Dense, error) {
	m := mat.NewDense(len(vectors[0]), len(vectors), nil)
	for j, v := range vectors {
		m.SetCol(j, v)
	}
	var svd mat.SVD
	if !svd.Factorize(m, mat.SVDThin) {
		return nil, errNotConverged
	}
	var u mat.Dense
	svd.UTo(&u)
	return &u, nil
}

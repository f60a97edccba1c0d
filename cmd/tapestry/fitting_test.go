package main

// netOnRows is a classifier in the notation.
const netOnRows = `objective "two-layer classifier"
input x[i=32, p=4]
index y[i] ~ integers(size(k))
param W[p, h=8] ~ glorot
param b[h]
param V[h, k=4] ~ glorot
param c[k]

a[i,h] = tanh(dot(x, W, p) + b)
z[i,k] = dot(a, V, h) + c
loss = -mean(sum(onehot(y, k)*logsoftmax(z, k), k), i)
output z
`

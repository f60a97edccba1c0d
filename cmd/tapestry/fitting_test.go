package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

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

// TestStatedClusters: a clustering in a file has as many centres as the file says where the data have no
// labels, and as many as there are classes where they have.
func TestStatedClusters(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"two.tapestry": "objective \"two\"\ninput x[i=150, d=4]\nparam r[j=2, d] ~ rows(x)\nloss = mean(min(sum((x - r)^2, d), j), i)\n",
		"plain.csv":    "a,b\n1,2\n3,5\n6,4\n8,8\n",
		"kinds.csv":    "a,b,kind\n1,2,u\n3,5,v\n6,4,w\n8,8,w\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string]int{
		"two.tapestry --data plain.csv":       2,
		"two.tapestry --data kinds.csv":       3,
		"two.tapestry --data plain.csv --k 4": 4,
		"kmeans-softmax --data plain.csv":     3,
	} {
		code, out, errOut := tapestry(t, append([]string{"train", "--seeds", "1", "--steps", "2", "--json"}, strings.Fields(args)...)...)
		var got struct{ Centres [][]float64 }
		if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil || len(got.Centres) != want {
			t.Errorf("train %s: %d centres, want %d (%s)", args, len(got.Centres), want, errOut)
		}
	}
}

// TestPredictAfterMissing: a model that was trained with missing values filled predicts for files with and
// without some, for arrays and for embedded data.
func TestPredictAfterMissing(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"reg.tapestry": "objective \"line\"\ninput x[i=8, p=2]\ninput y[i]\nparam w[p]\nq[i] = dot(x, w, p)\nloss = mean((y - q)^2, i)\noutput q\n",
		"gaps.csv":     "sepal_length,sepal_width,y\n1,2,3\n3,,4\n5,6,1\n7,8,0\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code, _, errOut := tapestry(t, strings.Fields("train reg.tapestry --data gaps.csv --bind x=sepal_length,sepal_width --bind y=y --missing mean --steps 2 --seeds 1 --checkpoint run")...); code != 0 {
		t.Fatal(errOut)
	}
	for from, rows := range map[string]int{"gaps.csv": 4, "iris": 150} {
		code, out, errOut := tapestry(t, "predict", "run", "--data", from)
		if code != 0 || strings.Count(out, "\n") != rows+1 {
			t.Errorf("predict --data %s: %d lines (%s)", from, strings.Count(out, "\n"), errOut)
		}
	}
}

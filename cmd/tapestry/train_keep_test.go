package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data/array"
	"github.com/tapestry-ml/tapestry/train/watch"
	"gorgonia.org/tensor"
)

// TestTrainKeeps: with a checkpoint a model learns as it does without, step by step and bit
// for bit, and one that was stopped ends as one that was not.
func TestTrainKeeps(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	train := func(args ...string) learnt {
		return learn(t, append([]string{"test-perceptron", "--seed", "4", "--seeds", "1", "--clip-norm", "1", "--ema", "0.9"}, args...)...)
	}
	want := train("--steps", "30")
	whole := train("--steps", "30", "--checkpoint", path("whole"))
	if !reflect.DeepEqual(want, whole) {
		t.Errorf("with a checkpoint the losses are\n%v\nwithout\n%v", whole, want)
	}
	begin := train("--steps", "12", "--checkpoint", path("parts"), "--resume")
	end := train("--steps", "30", "--checkpoint", path("parts"), "--resume", "--log", path("log"))
	if got := slices.Concat(begin.Runs[0].Loss, end.Runs[0].Loss); !slices.Equal(got, want.Runs[0].Loss) {
		t.Errorf("in two parts the losses are\n%v\nat a stretch\n%v", got, want.Runs[0].Loss)
	}
	last := "step-00000030.safetensors"
	if diff := ok(t, "checkpoint", "diff", filepath.Join(path("whole"), last), filepath.Join(path("parts"), last)); !strings.Contains(diff, "equal") && !strings.Contains(diff, "same") {
		t.Error(diff)
	}
	if out := ok(t, "train", "test-perceptron", "--seed", "4", "--steps", "30", "--clip-norm", "1", "--ema", "0.9", "--checkpoint", path("parts"), "--resume"); out != "test-perceptron: "+path("parts")+" has 30 steps already\n" {
		t.Errorf("printed %q", out)
	}
	log, err := os.Open(path("log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	records, err := watch.ReadLog("log", log)
	if err != nil || len(records) != 1+18+1+1 || records[0].Step != 12 {
		t.Errorf("%d records, %v", len(records), err)
	}
}

// TestTrainInterrupted: a training that is interrupted says where it left what it had done.
func TestTrainInterrupted(t *testing.T) {
	folder, log := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "log")
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if text, _ := os.ReadFile(log); bytes.Contains(text, []byte(`"stepped"`)) {
				interrupt()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	var out, errOut bytes.Buffer
	code := run(ctx, arguments("train test-perceptron --steps 100000000 --checkpoint RUN --log LOG", "RUN", folder, "LOG", log), &out, &errOut)
	step, found, err := checkpoint.Folder{Dir: folder}.Newest()
	if err != nil || !found {
		t.Fatal(errOut.String(), err)
	}
	path := filepath.Join(folder, fmt.Sprintf("step-%08d.safetensors", step))
	if want := fmt.Sprintf("tapestry: interrupted after %d steps, kept in %s: --resume goes on from there\n", step, path); code != 130 || errOut.String() != want {
		t.Errorf("exit code %d, %q, want %q", code, errOut.String(), want)
	}
}

// TestTrainSchedule: a schedule of the rate is what the steps are taken with, from all seeds.
func TestTrainSchedule(t *testing.T) {
	plain, constant := learn(t, "test-perceptron", "--steps", "20", "--rate", "0.02"), learn(t, "test-perceptron", "--steps", "20", "--rate", "exp(0.02,1)")
	if !reflect.DeepEqual(plain.Runs, constant.Runs) || plain.Median != constant.Median || len(plain.Runs) != 3 {
		t.Errorf("a constant schedule gives\n%v\na number\n%v", constant, plain)
	}
	if falling := learn(t, "test-perceptron", "--steps", "20", "--rate", "exp(0.02,0.5)"); falling.Median <= plain.Median || falling.Runs[0].Loss[1] != plain.Runs[0].Loss[1] {
		t.Errorf("a rate that halves in each step gives\n%v\na constant one\n%v", falling, plain)
	}
	out := ok(t, "train", "test-perceptron", "--steps", "20", "--rate", "warmup(5,cosine(0.01,15))", "--clip-norm", "1")
	if want := "20 steps of adam(warmup(5,cosine(0.01,15)), clip-norm 1)\n"; !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
}

// TestTrainKeepsCentres: predict assigns rows as the training did.
func TestTrainKeepsCentres(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "centres")
	var v struct{ Assigned []int }
	if err := json.Unmarshal([]byte(ok(t, "train", "kmeans-softmax", "--seeds", "2", "--steps", "30", "--json", "--checkpoint", folder)), &v); err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(ok(t, "predict", folder, "--data", "iris"))
	if lines[0] != "cluster" || len(lines) != 151 {
		t.Fatalf("%d lines: %q", len(lines), lines[0])
	}
	for i, line := range lines[1:] {
		if line != strconv.Itoa(v.Assigned[i]) {
			t.Fatalf("row %d goes to %s, in training to %d", i, line, v.Assigned[i])
		}
	}
	code, _, errOut := tapestry(t, "predict", folder, "--data", "wine")
	if want := "wine.csv: 13 features, " + filepath.Join(folder, "step-00000030.safetensors") + " has 4"; code != 1 || !strings.Contains(errOut, want) {
		t.Errorf("got %s, want %s", errOut, want)
	}
}

func TestTrainKeepMistakes(t *testing.T) {
	dir := t.TempDir()
	ok(t, "train", "test-perceptron", "--steps", "3", "--checkpoint", dir)
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"test-perceptron --resume", "--resume: want --checkpoint DIR, too", 2},
		{"test-perceptron --rate 0", "--rate 0: want a positive number", 2},
		{"test-perceptron --rate NaN", "--rate NaN: want a positive number", 2},
		{"test-perceptron --rate warm(3)", `--rate: schedule "warm(3)", character 1: unknown schedule "warm": want one of warmup, hold, within, step, exp, cosine, 1/t`, 2},
		{"test-perceptron --weight-decay -1", "--weight-decay -1: want a finite number of at least 0", 2},
		{"test-perceptron --l1 NaN", "--l1 NaN: want a finite number of at least 0", 2},
		{"test-perceptron --optimiser lbfgs --l1 1", "--optimiser lbfgs has no L1: its line search wants a smooth loss", 2},
		{"test-perceptron --clip-norm -1", "--clip-norm -1: want a positive number", 2},
		{"test-perceptron --ema 1", "--ema 1: want a number from 0, and below 1", 2},
		{"test-perceptron --seeds 2 --checkpoint x", "--seeds 2: --log, --resume, and --checkpoint of a model that is no clustering, are of one training", 2},
		{"test-perceptron --log /x/y/z", "/x/y/z: no such file or directory", 1},
		{"test-distance --checkpoint DIR/new", "test-distance has no loss: there is nothing to train", 1},
		{"test-perceptron --checkpoint DIR", "test-perceptron: fit: " + dir + " holds checkpoints up to step 3, and this training is at step 0: resume from there, or take another folder", 1},
		{"test-perceptron --set h=9 --resume --checkpoint DIR", "test-perceptron: resume: " + dir + "/step-00000003.safetensors is of another model:", 1},
		{"kmeans-goofy --checkpoint DIR", dir + " holds checkpoints up to step 3, and a clustering begins anew: take another folder", 1},
		{"test-perceptron --seed 1 --resume --checkpoint DIR", "test-perceptron, seed 1: resume: " + dir + "/step-00000003.safetensors fits the model, but its data were \"examples(seed 0)\", these are \"examples(seed 1)\": training would not go on as it began: repeat the command that began, or begin in another folder", 1},
		{"kmeans-goofy --seeds 2 --resume --checkpoint DIR", "--seeds 2: --log, --resume, and --checkpoint of a model that is no clustering, are of one training", 2},
		{"kmeans-goofy --log x --seeds 2", "--seeds 2: --log, --resume, and --checkpoint of a model that is no clustering, are of one training", 2},
		{"kmeans-lloyd --log x", "--log: it is of one training, and Lloyd's algorithm begins --restarts times", 2},
	} {
		code, out, errOut := tapestry(t, arguments("train "+c.args, "DIR", dir)...)
		if code != c.code || out != "" || !strings.HasPrefix(errOut, "tapestry: "+c.want) {
			t.Errorf("train %s: exit code %d, printed %q and\n%s, want\n%s", c.args, code, out, errOut, c.want)
		}
	}
}

// TestTrainBusy: no training writes to a folder that another one holds; whoever reads may.
func TestTrainBusy(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no lock of a folder")
	}
	dir := filepath.Join(t.TempDir(), "run")
	ok(t, "train", "kmeans-lloyd", "--restarts", "1", "--checkpoint", dir)
	release, err := checkpoint.Folder{Dir: dir}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for args, want := range map[string]string{
		"test-perceptron --resume": "test-perceptron: fit: ",
		"kmeans-lloyd":             "",
	} {
		code, out, errOut := tapestry(t, append([]string{"train", "--checkpoint", dir}, strings.Fields(args)...)...)
		if want := "tapestry: " + want + dir + ": another training writes its checkpoints there\n"; code != 1 || out != "" || errOut != want {
			t.Errorf("train %s: %d, %q, %q, want %q", args, code, out, errOut, want)
		}
	}
	ok(t, "checkpoint", "show", dir)
	ok(t, "predict", dir, "--data", "iris")
}

// TestTrainRefusedKeepsLog: a training that does not begin leaves the log alone, be it that of
// the one that holds the folder or of the one that was there.
func TestTrainRefusedKeepsLog(t *testing.T) {
	dir, log := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "log")
	args := []string{"train", "test-perceptron", "--steps", "3", "--checkpoint", dir, "--log", log}
	ok(t, args...)
	want, err := os.ReadFile(log)
	if err != nil || len(want) == 0 {
		t.Fatalf("%d bytes, %v", len(want), err)
	}
	if code, _, errOut := tapestry(t, args...); code != 1 || !strings.Contains(errOut, "holds checkpoints up to step 3") {
		t.Fatal(code, errOut)
	}
	if got, err := os.ReadFile(log); !bytes.Equal(got, want) || err != nil {
		t.Errorf("the log has %d bytes, it had %d; %v", len(got), len(want), err)
	}
}

// TestKeptModelsPredict: a model of the registry whose output has a row for each example
// predicts from its checkpoint; one whose output depends on chance or on the other rows, or
// has none of its own for each example, does not.
func TestKeptModelsPredict(t *testing.T) {
	dir, none := t.TempDir(), "only values, and no model"
	for model, want := range map[string]string{"regression-ridge": "ŷ\n", "graph-gcn": "model reads x f", "autoencoder-masked": none, "regression-pcr": none, "init": none} {
		folder := filepath.Join(dir, model)
		ok(t, "train", model, "--steps", "2", "--checkpoint", folder)
		if _, out, errOut := tapestry(t, "predict", folder, "--data", "iris"); !strings.Contains(out+errOut, want) {
			t.Errorf("%s: got %s%s, want %s", model, out, errOut, want)
		}
	}
}

// TestKeptModelsEvaluate: a model that is trained with noise, or by the statistics of its
// batch, predicts without: what it says of a row depends on nothing else.
func TestKeptModelsEvaluate(t *testing.T) {
	dir := t.TempDir()
	for model, shape := range map[string]tensor.Shape{
		"dropout": {8, 2}, "drop-connect": {8, 2}, "multiplicative-noise": {8, 2}, "stochastic-depth": {8, 2},
		"augment-cutout": {8, 8, 8, 1}, "norm-batch": {8, 8, 8, 1}, "standardise": {8, 8, 8, 1}, "resnet": {8, 8, 8, 1},
		"autoencoder-denoising": {8, 8},
	} {
		folder, file := filepath.Join(dir, model), filepath.Join(dir, model+".npy")
		ok(t, "train", model, "--steps", "3", "--checkpoint", folder, "--dtype", "f64")
		predicted := func(last float64) []string {
			x := make([]float64, shape.TotalSize())
			for i := range x { // all rows are equal but for the last
				x[i] = math.Sin(float64(i % (len(x) / 8)))
				if i >= len(x)*7/8 {
					x[i] += last
				}
			}
			out, err := os.Create(file)
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			if err := array.WriteNPY(out, tensor.New(tensor.WithShape(shape...), tensor.WithBacking(x))); err != nil {
				t.Fatal(err)
			}
			lines := strings.Fields(ok(t, "predict", folder, "--data", file, "--json"))
			for i := range lines {
				_, lines[i], _ = strings.Cut(lines[i], `"output":`)
			}
			return lines[:7]
		}
		one, other := predicted(0), predicted(2)
		if !slices.Equal(one, other) || len(slices.Compact(one)) != 1 {
			t.Errorf("%s: equal rows give\n%v\nand beside another\n%v", model, one, other)
		}
	}
}

// TestClusteringKeeps: a clustering is logged, and takes a schedule of its rate, as any other model.
func TestClusteringKeeps(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	out := ok(t, "train", "kmeans-softmax", "--steps", "20", "--rate", "warmup(5,cosine(0.05,15))", "--log", log)
	if !strings.Contains(out, "best of 1 run") {
		t.Errorf("a training that is logged is one:\n%s", out)
	}
	file, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, rates := watch.NewReader(log, file), []float64{}
	for {
		r, err := records.Next()
		if err != nil {
			break
		}
		if r.Kind == train.Stepped {
			rates = append(rates, r.Rate)
		}
	}
	if len(rates) != 20 || rates[0] >= rates[4] || rates[19] >= rates[5] {
		t.Errorf("rates %v: want 20 that rise for 5 steps and fall then", rates)
	}
}

// TestClusteringResumes: a clustering that is taken up again ends where one without a stop does, and its
// checkpoint predicts.
func TestClusteringResumes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	train := func(args ...string) string {
		return ok(t, append([]string{"train", "kmeans-softmax", "--dtype", "f32", "--gamma", "5", "--rate", "exp(0.05,0.99)", "--seed", "3"}, args...)...)
	}
	_, whole, _ := strings.Cut(train("--steps", "30", "--seeds", "1"), "\ncentres\n")
	train("--steps", "12", "--checkpoint", dir, "--resume")
	_, resumed, _ := strings.Cut(train("--steps", "30", "--checkpoint", dir, "--resume"), "\ncentres\n")
	if whole == "" || resumed != whole {
		t.Errorf("centres\n%s\nwithout a stop\n%s", resumed, whole)
	}
	if out := train("--steps", "30", "--checkpoint", dir, "--resume"); !strings.Contains(out, "has 30 steps already") {
		t.Errorf("a third time: %s", out)
	}
	if out := ok(t, "predict", dir, "--data", "iris"); strings.Count(out, "\n") != 151 {
		t.Errorf("predicted:\n%s", out)
	}
}

// TestClusteringResumesItsOwn: the best of several runs, and a training on other data, are not gone on from.
func TestClusteringResumesItsOwn(t *testing.T) {
	best, wine := filepath.Join(t.TempDir(), "best"), filepath.Join(t.TempDir(), "wine")
	ok(t, "train", "kmeans-softmax", "--steps", "5", "--seeds", "2", "--checkpoint", best)
	ok(t, "train", "kmeans-softmax", "--steps", "5", "--seeds", "1", "--checkpoint", wine, "--data", "wine")
	for dir, rows := range map[string]string{best: "128", wine: "178"} {
		code, _, errOut := tapestry(t, "train", "kmeans-softmax", "--steps", "9", "--checkpoint", dir, "--resume")
		if want := dir + " was trained on batches of " + rows + " rows, and these are others"; code != 1 || !strings.Contains(errOut, want) {
			t.Errorf("exit code %d, %swant %s", code, errOut, want)
		}
	}
}

// TestEpochsArePasses: so many epochs give every row so many times, where batches do not divide the rows, too.
func TestEpochsArePasses(t *testing.T) {
	for batch, steps := range map[string]int{"150": 4, "50": 12, "40": 15, "64": 10} {
		var got struct{ Steps int }
		_, out, _ := tapestry(t, "train", "regression-ols", "--data", "iris", "--bind", "X=sepal_length,sepal_width", "--bind", "y=petal_width", "--batch", batch, "--epochs", "4", "--seeds", "1", "--json")
		if err := json.Unmarshal([]byte(out), &got); err != nil || got.Steps != steps {
			t.Errorf("batches of %s: %d steps, %v, want %d", batch, got.Steps, err, steps)
		}
	}
}

package main

import "regexp"

// training is one that an example does, and bench/trainings.py under the same name.
type training struct {
	name, what string
	example    string         // the directory in examples/
	args       []string       // beside those that every example knows
	fit        int            // which of the trainings that the example does then
	result     *regexp.Regexp // finds the result in what it prints
}

var trainings = []training{
	{"digits-mlp", "digits, perceptron", "digits", []string{"-seeds", "1"}, 0, regexp.MustCompile(`seed \d+: accuracy (\S+)`)},
	{"digits-cnn", "digits, convolutions", "digits-cnn", []string{"-seeds", "1"}, 0, regexp.MustCompile(`seed \d+: accuracy (\S+)`)},
	{"chars-gpt", "characters, GPT", "chars-gpt", nil, 0, regexp.MustCompile(`gpt: (\S+) nats`)},
	{"chars-lstm", "characters, LSTM", "chars-rnn", nil, 1, regexp.MustCompile(`lstm: (\S+) nats`)},
	{"autoencoder", "linear autoencoder", "pca", nil, 0, regexp.MustCompile(`left by the autoencoder (\S+)`)},
	{"karate-gcn", "karate club, GCN", "karate", []string{"-seeds", "1"}, 0, regexp.MustCompile(`GCN: right are \[(\d+)`)},
	translation("dot"),
	translation("multiplicative"),
	translation("additive"),
}

// translation is that of dates with a score of attention.
func translation(score string) training {
	return training{"dates-" + score, "dates, " + score, "dates", []string{"-score", score}, 0, regexp.MustCompile(score + `: (\d+) of \d+ right`)}
}

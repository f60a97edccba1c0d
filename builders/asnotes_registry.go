package builders

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/nn/graphnet"
)

// notes has what the lecture notes have of the models of the registry where the defaults differ, by
// name. A model that is not here is as the notes have it, or they leave open what its defaults say.
var notes = map[string]AsNotes{
	"kmeans-lloyd": {
		Says:  "centres start at random input points",
		Start: "points",
	},
	"kmeans-sgd": {
		Says:      "single points, r ← r + η·2(x − r) with a constant η, centres that start at random input points",
		Optimiser: "sgd", Rate: constant("0.05"), Batch: 1, Start: "points",
	},
	"kmeans-softmax": softNotes,
	"kmeans-goofy":   softNotes,

	"attention-self": {
		Says:     "scores as they are, aᵢⱼ = qᵢ·kⱼ",
		Settings: Settings{"scale": 0},
	},

	"transformer-encoder": postNorm,
	"transformer-decoder": postNorm,
	"transformer-seq2seq": postNorm,
	"transformer-unet":    postNorm,
	"transformer-gpt":     postNorm,
	"transformer-bert":    postNorm,

	"seq2seq-bottleneck": {
		Says:     "a plain recurrent cell, and a decoder that is fed its own output",
		Settings: Settings{"cell": cellElman, "feedback": feedbackArgmax},
	},

	"conv-text": {
		Says:     "bigrams alone, by tanh",
		Settings: Settings{"widest": 2, "activation": 1},
	},
	"convnext": {
		Says:      "AdamW on a cosine schedule, label smoothing, stochastic depth, strong augmentation",
		Settings:  Settings{"smoothing": 0.1, "drop": 0.2, "cutmix": 0.5},
		Optimiser: "adamw", Rate: func(_ Settings, steps int) string { return fmt.Sprintf("cosine(0.01,%d)", max(steps, 1)) },
	},

	"graph-message-passing": {
		Says:     "messages are added up",
		Settings: Settings{"aggregate": float64(graphnet.AggregateSum)},
	},
	"graph-batch": {
		Says:     "no null nodes: graphs of different sizes are blocks of one",
		Settings: Settings{"packing": 1},
	},

	"autoencoder-linear": {
		Says:      "plain gradient descent",
		Optimiser: "sgd", Rate: constant("0.02"),
	},
	"autoencoder": {
		Says:      "plain gradient descent",
		Optimiser: "sgd", Rate: constant("0.02"),
	},

	"regression-relu": {
		Says:      "plain gradient descent",
		Optimiser: "sgd", Rate: constant("0.02"),
	},
	"regression-ols":                oneDataSet(func(s Settings) float64 { return 0.25 / s["n"] }),
	"regression-ridge":              oneDataSet(func(s Settings) float64 { return 0.25 / (s["n"] + s["lambda"]) }),
	"regression-ridge-observations": oneDataSet(func(s Settings) float64 { return 0.25 / (s["n"] + s["lambda"]) }),
}

// softNotes are of the clusterings whose centres all points pull: "taking gradient descent steps"
// with "hyperparameter γ".
var softNotes = AsNotes{
	Says:      "plain gradient descent at a constant rate, γ that stays as it is, centres that start at random input points",
	Optimiser: "sgd", Rate: constant("0.5"), Start: "points", Steady: true,
}

// postNorm is of transformers as "Attention is all you need" draws them.
var postNorm = AsNotes{
	Says:     "norms after the sums of the residual connections (post-norm)",
	Settings: Settings{"norm": 1},
}

// oneDataSet is of least squares by gradient descent on a matrix X and a vector y.
func oneDataSet(rate func(s Settings) float64) AsNotes {
	return AsNotes{
		Says:      "plain gradient descent on one data set",
		Optimiser: "sgd", Rate: ofSettings(rate), OneBatch: true,
	}
}

// Package layertest helps to test layers and models: inputs and values, results by the definitions
// and on the tape, training, mistakes, and what is drawn anew in every run.
package layertest

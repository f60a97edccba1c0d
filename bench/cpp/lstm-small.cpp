// internal/workload/lstmsmall.go in C++: a small LSTM over a long sequence, its loss and, step by
// step backwards, its gradient.
#include <cmath>

#include "numbers.h"

const int steps = 1024, cells = 14, layers = 2;

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// What a layer keeps of a step: its input, what was let out and remembered before, its gates, and
// what it remembers.
struct Kept {
    double input[cells], h[cells], c[cells], forget[cells], let[cells], show[cells], change[cells], tanh_c[cells];
};

int main(int argc, char **argv) {
    Array x = values(90, steps * cells, 1), state = values(92, layers * 2 * cells, 1);
    std::vector<int> label = labels(91, steps, cells);
    Param in(values(93, cells, 1)), out(values(94, cells, 1)), bias(values(95, cells, 1));
    std::vector<Param> gates, biases;
    for (int l = 0; l < layers; l++) {
        gates.emplace_back(values(96 + 2 * l, 4 * cells, 1));
        biases.emplace_back(values(97 + 2 * l, 4 * cells, 1));
    }
    std::vector<Param *> all = {&in, &out, &bias};
    for (int l = 0; l < layers; l++) all.push_back(&gates[l]), all.push_back(&biases[l]);
    static Kept kept[steps][layers];
    static double last[steps][cells], by_score[steps][cells];

    auto forward = [&] {
        double h[layers][cells], c[layers][cells], loss = 0;
        for (int l = 0; l < layers; l++)
            for (int j = 0; j < cells; j++) {
                h[l][j] = state[(2 * l) * cells + j];
                c[l][j] = state[(2 * l + 1) * cells + j];
            }
        for (int t = 0; t < steps; t++) {
            double input[cells];
            for (int j = 0; j < cells; j++) input[j] = x[t * cells + j] * in.now[j];
            for (int l = 0; l < layers; l++) {
                const double *w = gates[l].now.data(), *b = biases[l].now.data();
                Kept &k = kept[t][l];
                for (int j = 0; j < cells; j++) {
                    k.input[j] = input[j], k.h[j] = h[l][j], k.c[j] = c[l][j];
                    k.forget[j] = sigmoid(input[j] * w[j] + b[j]);
                    k.let[j] = sigmoid(h[l][j] * w[cells + j] + b[cells + j]);
                    k.show[j] = sigmoid(input[j] * w[2 * cells + j] + b[2 * cells + j]);
                    k.change[j] = std::tanh(h[l][j] * w[3 * cells + j] + b[3 * cells + j]);
                    c[l][j] = c[l][j] * k.forget[j] + k.let[j] * k.change[j];
                    k.tanh_c[j] = std::tanh(c[l][j]);
                    input[j] = h[l][j] = k.show[j] * k.tanh_c[j];
                }
            }
            double score[cells], most = -INFINITY, sum = 0;
            for (int j = 0; j < cells; j++) {
                last[t][j] = input[j];
                score[j] = input[j] * out.now[j] + bias.now[j];
                most = std::max(most, score[j]);
            }
            for (int j = 0; j < cells; j++) sum += by_score[t][j] = std::exp(score[j] - most);
            for (int j = 0; j < cells; j++) by_score[t][j] /= sum * steps;
            by_score[t][label[t]] -= 1.0 / steps;
            loss += most + std::log(sum) - score[label[t]];
        }
        return loss / steps;
    };
    auto backward = [&] {
        double by_h[layers][cells] = {}, by_c[layers][cells] = {};
        for (int t = steps - 1; t >= 0; t--) {
            double above[cells];
            for (int j = 0; j < cells; j++) {
                out.gradient[j] += by_score[t][j] * last[t][j];
                bias.gradient[j] += by_score[t][j];
                above[j] = by_score[t][j] * out.now[j];
            }
            for (int l = layers - 1; l >= 0; l--) {
                const double *w = gates[l].now.data();
                double *gw = gates[l].gradient.data(), *gb = biases[l].gradient.data();
                const Kept &k = kept[t][l];
                for (int j = 0; j < cells; j++) {
                    double h = by_h[l][j] + above[j];
                    double c = by_c[l][j] + h * k.show[j] * (1 - k.tanh_c[j] * k.tanh_c[j]);
                    double forget = c * k.c[j] * k.forget[j] * (1 - k.forget[j]);
                    double let = c * k.change[j] * k.let[j] * (1 - k.let[j]);
                    double show = h * k.tanh_c[j] * k.show[j] * (1 - k.show[j]);
                    double change = c * k.let[j] * (1 - k.change[j] * k.change[j]);
                    gw[j] += forget * k.input[j], gb[j] += forget;
                    gw[cells + j] += let * k.h[j], gb[cells + j] += let;
                    gw[2 * cells + j] += show * k.input[j], gb[2 * cells + j] += show;
                    gw[3 * cells + j] += change * k.h[j], gb[3 * cells + j] += change;
                    by_c[l][j] = c * k.forget[j];
                    by_h[l][j] = let * w[cells + j] + change * w[3 * cells + j];
                    above[j] = forget * w[j] + show * w[2 * cells + j];
                }
            }
            for (int j = 0; j < cells; j++) in.gradient[j] += above[j] * x[t * cells + j];
        }
    };
    auto step = [&] {
        for (Param *p : all) p->clear();
        double loss = forward();
        backward();
        for (Param *p : all) p->descend(1);
        return loss;
    };
    auto check = [&] {
        double sum = 0;
        for (size_t i = 0; i < all.size(); i++) sum += checksum(i, all[i]->change());
        return sum;
    };
    return measure("lstm-small", argc, argv, true, step, check);
}

// The numbers that every program of the comparison makes, and the timing of a step: what
// internal/workload and `tapestry bench --json` do.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using Array = std::vector<double>;

// Numbers in [0, 1) of a linear congruential generator (Knuth's MMIX constants).
inline Array uniform(uint64_t seed, size_t count) {
    uint64_t s = 0x9E3779B97F4A7C15u * (seed + 1);
    Array out(count);
    for (double &u : out) {
        s = 6364136223846793005u * s + 1442695040888963407u;
        u = double(s >> 40) / (1 << 24);
    }
    return out;
}

// Numbers in [-scale, scale).
inline Array values(uint64_t seed, size_t count, double scale) {
    Array out = uniform(seed, count);
    for (double &u : out) u = (2 * u - 1) * scale;
    return out;
}

// Whole numbers in [0, classes).
inline std::vector<int> labels(uint64_t seed, size_t count, int classes) {
    std::vector<int> out;
    for (double u : uniform(seed, count)) out.push_back(int(u * classes));
    return out;
}

// Array number i's part of a checksum.
inline double checksum(int i, const Array &data) {
    Array v = values(1000 + i, data.size(), 1);
    double sum = 0;
    for (size_t k = 0; k < data.size(); k++) sum += v[k] * data[k];
    return sum;
}

// A parameter with its gradient.
struct Param {
    Array start, now, gradient;

    explicit Param(Array values) : start(values), now(values), gradient(values.size()) {}

    void clear() { std::fill(gradient.begin(), gradient.end(), 0.0); }
    void descend(double rate) {
        for (size_t i = 0; i < now.size(); i++) now[i] -= rate * gradient[i];
    }
    Array change() const {
        Array out(now.size());
        for (size_t i = 0; i < now.size(); i++) out[i] = now[i] - start[i];
        return out;
    }
};

// Times step, which returns the loss, for argv[1] seconds after 5 warm-up steps, at least until step
// 20, and prints a line. check is the checksum of an evaluation's arrays, or of what the parameters
// have changed by; where there is no loss, it takes the place of the loss.
template <class Step, class Check>
int measure(const char *workload, int argc, char **argv, bool has_loss, Step step, Check check) {
    const size_t warm_up = 5, last = 20;
    double seconds = argc > 1 ? std::atof(argv[1]) : 1, spent = 0, first_loss = 0, last_loss = 0, sum = 0;
    std::vector<double> times;
    for (size_t n = 1; n <= last || spent < seconds; n++) {
        auto start = std::chrono::steady_clock::now();
        double loss = step();
        double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        if (n > warm_up) {
            times.push_back(took);
            spent += took;
        }
        if (n == 1) first_loss = has_loss ? loss : check();
        if (n == last) {
            sum = check();
            last_loss = has_loss ? loss : sum;
        }
    }
    std::sort(times.begin(), times.end());
    double median = (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2;
    std::printf("{\"peer\": \"cpp\", \"workload\": \"%s\", \"dtype\": \"float64\", \"threads\": 1, "
                "\"ms_per_step_median\": %.5f, \"ms_min\": %.5f, \"loss_first\": %.17g, \"loss_last\": %.17g, "
                "\"checksum\": %.17g, \"steps_timed\": %zu}\n",
                workload, median * 1e3, times[0] * 1e3, first_loss, last_loss, sum, times.size());
    return 0;
}

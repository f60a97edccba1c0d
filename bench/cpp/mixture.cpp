// internal/workload/mixture.go in C++: how unlikely points are in a mixture of Gaussians with full
// covariances, and the gradient, point by point.
#include <cmath>

#include "numbers.h"

const int points = 10000, dims = 32, parts = 100, below = dims * (dims - 1) / 2;

int main(int argc, char **argv) {
    Array x = values(110, points * dims, 1);
    Param alpha(values(111, parts, 1)), mean(values(112, parts * dims, 1));
    Param logs(values(113, parts * dims, 0.5)), packed(values(114, parts * below, 0.1));
    std::vector<Param *> all = {&alpha, &mean, &logs, &packed};
    // The factors and their gradients by columns, so that inner loops run over neighbours.
    static double factor[parts][dims][dims], by_factor[parts][dims][dims];
    static double from[parts][dims], z[parts][dims], by_z[parts][dims]; // by_z is a sum over the points

    auto step = [&] {
        for (Param *p : all) p->clear();
        double norm[parts], most = -INFINITY, sum = 0;
        for (int k = 0; k < parts; k++) {
            norm[k] = alpha.now[k];
            for (int i = 0; i < dims; i++) {
                norm[k] += logs.now[k * dims + i];
                factor[k][i][i] = std::exp(logs.now[k * dims + i]);
                for (int j = 0; j < i; j++) factor[k][j][i] = packed.now[k * below + i * (i - 1) / 2 + j];
            }
            most = std::max(most, alpha.now[k]);
        }
        for (int k = 0; k < parts; k++) sum += std::exp(alpha.now[k] - most);
        double log_sum = most + std::log(sum), loss = 0;
        std::fill(&by_factor[0][0][0], &by_factor[0][0][0] + parts * dims * dims, 0.0);
        std::fill(&by_z[0][0], &by_z[0][0] + parts * dims, 0.0);

        for (int i = 0; i < points; i++) {
            double share[parts], top = -INFINITY, total = 0;
            for (int k = 0; k < parts; k++) {
                double y[dims] = {}, square = 0;
                for (int d = 0; d < dims; d++) {
                    double f = from[k][d] = x[i * dims + d] - mean.now[k * dims + d];
                    for (int e = d; e < dims; e++) y[e] += factor[k][d][e] * f;
                }
                for (int e = 0; e < dims; e++) {
                    z[k][e] = y[e];
                    square += y[e] * y[e];
                }
                share[k] = norm[k] - square / 2;
                top = std::max(top, share[k]);
            }
            for (int k = 0; k < parts; k++) total += share[k] = std::exp(share[k] - top);
            loss += log_sum - top - std::log(total);
            for (int k = 0; k < parts; k++) {
                double s = share[k] / total / points, by[dims];
                alpha.gradient[k] -= s;
                for (int e = 0; e < dims; e++) {
                    by[e] = s * z[k][e];
                    by_z[k][e] += by[e];
                }
                for (int d = 0; d < dims; d++)
                    for (int e = d; e < dims; e++) by_factor[k][d][e] += from[k][d] * by[e];
            }
        }

        for (int k = 0; k < parts; k++) {
            double shares = -alpha.gradient[k];
            alpha.gradient[k] += std::exp(alpha.now[k] - log_sum);
            for (int d = 0; d < dims; d++) {
                for (int e = d; e < dims; e++) mean.gradient[k * dims + d] -= factor[k][d][e] * by_z[k][e];
                logs.gradient[k * dims + d] = by_factor[k][d][d] * factor[k][d][d] - shares;
                for (int j = 0; j < d; j++) packed.gradient[k * below + d * (d - 1) / 2 + j] = by_factor[k][j][d];
            }
        }
        for (Param *p : all) p->descend(0.01);
        return loss / points;
    };
    auto check = [&] {
        double sum = 0;
        for (size_t i = 0; i < all.size(); i++) sum += checksum(i, all[i]->change());
        return sum;
    };
    return measure("mixture", argc, argv, true, step, check);
}

// internal/workload/reprojection.go in C++: the weighted distance of each point seen from where its
// camera shows it, and its derivatives by the camera, the point and the weight, by hand.
#include <cmath>

#include "numbers.h"

const int cameras = 100, points = 5000, rows = 50000, camera_size = 11, row_size = 15;

// Residual and Jacobian of one row: camera is rotation 3, place 3, focal length, middle 2, radial 2.
static void reproject(const double *camera, const double *point, double weight, const double *seen, double *residual,
                      double *jacobian) {
    const double *r = camera, f = camera[6], k1 = camera[9], k2 = camera[10];
    double theta = std::sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]), s = std::sin(theta), c = std::cos(theta);
    double a[3], d[3];
    for (int i = 0; i < 3; i++) {
        a[i] = r[i] / theta;
        d[i] = point[i] - camera[3 + i];
    }
    double cross[3] = {a[1] * d[2] - a[2] * d[1], a[2] * d[0] - a[0] * d[2], a[0] * d[1] - a[1] * d[0]};
    double dot = a[0] * d[0] + a[1] * d[1] + a[2] * d[2];
    double x[3], by_theta[3];
    for (int i = 0; i < 3; i++) {
        x[i] = d[i] * c + cross[i] * s + a[i] * dot * (1 - c);
        by_theta[i] = -s * d[i] + c * cross[i] + s * dot * a[i];
    }
    // How x moves with d, which is the matrix of the rotation, and with a.
    double by_d[3][3] = {{c, -s * a[2], s * a[1]}, {s * a[2], c, -s * a[0]}, {-s * a[1], s * a[0], c}};
    double by_a[3][3] = {{0, s * d[2], -s * d[1]}, {-s * d[2], 0, s * d[0]}, {s * d[1], -s * d[0], 0}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            by_d[i][j] += (1 - c) * a[i] * a[j];
            by_a[i][j] += (1 - c) * a[i] * d[j];
        }
        by_a[i][i] += (1 - c) * dot;
    }
    double by_r[3][3];
    for (int i = 0; i < 3; i++) {
        double along = by_a[i][0] * a[0] + by_a[i][1] * a[1] + by_a[i][2] * a[2];
        for (int j = 0; j < 3; j++) by_r[i][j] = by_theta[i] * a[j] + (by_a[i][j] - along * a[j]) / theta;
    }

    double u[2] = {x[0] / x[2], x[1] / x[2]}, r2 = u[0] * u[0] + u[1] * u[1];
    double bent = 1 + r2 * (k1 + k2 * r2), by_r2 = k1 + 2 * k2 * r2;
    for (int i = 0; i < 2; i++) {
        double *row = jacobian + i * row_size, off = u[i] * bent * f + camera[7 + i] - seen[i];
        residual[i] = weight * off;
        double wf = weight * f;
        double by_u[2] = {wf * 2 * by_r2 * u[i] * u[0], wf * 2 * by_r2 * u[i] * u[1]};
        by_u[i] += wf * bent;
        double by_x[3] = {by_u[0] / x[2], by_u[1] / x[2], -(by_u[0] * u[0] + by_u[1] * u[1]) / x[2]};
        for (int j = 0; j < 3; j++) {
            row[j] = by_x[0] * by_r[0][j] + by_x[1] * by_r[1][j] + by_x[2] * by_r[2][j];
            double by_point = by_x[0] * by_d[0][j] + by_x[1] * by_d[1][j] + by_x[2] * by_d[2][j];
            row[3 + j] = -by_point;
            row[11 + j] = by_point;
        }
        row[6] = weight * u[i] * bent;
        row[7 + i] = weight;
        row[8 - i] = 0;
        row[9] = wf * u[i] * r2;
        row[10] = wf * u[i] * r2 * r2;
        row[14] = off;
    }
}

int main(int argc, char **argv) {
    Array camera = values(70, cameras * camera_size, 0.3), point = values(71, points * 3, 1);
    for (int i = 0; i < cameras; i++) {
        camera[i * camera_size + 5] -= 4;
        camera[i * camera_size + 6] += 1;
    }
    Array weight = values(72, rows, 1), seen = values(73, rows * 2, 1);
    std::vector<int> by_camera = labels(74, rows, cameras), by_point = labels(75, rows, points);
    Array residual(rows * 2), jacobian(rows * 2 * row_size);
    auto step = [&] {
        for (int i = 0; i < rows; i++)
            reproject(&camera[by_camera[i] * camera_size], &point[by_point[i] * 3], weight[i], &seen[i * 2], &residual[i * 2],
                      &jacobian[i * 2 * row_size]);
        return 0.0;
    };
    return measure("reprojection", argc, argv, false, step, [&] { return checksum(0, residual) + checksum(1, jacobian); });
}

// internal/workload/chain.go in C++: a hand's skin in a pose, and how it moves along 26 directions of
// the pose. What moves carries its 26 speeds, side by side; the rules are written by hand.
#include <cmath>

#include "numbers.h"

const int fingers = 5, finger_bones = 4, bones = 2 + fingers * finger_bones, pose_size = 26, points = 544;
const int directions = 26;

// The upper three rows of a 4x4 transform, with their speeds.
struct Transform {
    double at[3][4];
    double speed[3][4][directions];
};

static int parent(int bone) { return bone >= 2 && (bone - 2) % finger_bones == 0 ? 1 : bone - 1; }

// The places in a pose of the bones' angles; -1 is none.
static void angles_of(int (*at)[3]) {
    for (int b = 0; b < bones; b++)
        for (int x = 0; x < 3; x++) at[b][x] = b < 2 ? 3 * b + x : -1;
    for (int f = 0; f < fingers; f++) {
        int b = 2 + f * finger_bones, a = 6 + f * finger_bones;
        at[b][0] = a, at[b][2] = a + 1, at[b + 1][0] = a + 2, at[b + 2][0] = a + 3;
    }
}

// The transform that turns about x, then y, then z, and moves by offset, with its speeds where the
// angles move as speeds say; a null pointer is an angle that stays.
static void turn(const double *angle, double *const *speeds, const double *offset, Transform &out) {
    double sx = std::sin(angle[0]), sy = std::sin(angle[1]), sz = std::sin(angle[2]);
    double cx = std::cos(angle[0]), cy = std::cos(angle[1]), cz = std::cos(angle[2]);
    double rotation[3][3] = {{cy * cz, sx * sy * cz - cx * sz, cx * sy * cz + sx * sz},
                             {cy * sz, sx * sy * sz + cx * cz, cx * sy * sz - sx * cz},
                             {-sy, sx * cy, cx * cy}};
    double by[3][3][3] = {{{0, cx * sy * cz + sx * sz, -sx * sy * cz + cx * sz},
                           {0, cx * sy * sz - sx * cz, -sx * sy * sz - cx * cz},
                           {0, cx * cy, -sx * cy}},
                          {{-sy * cz, sx * cy * cz, cx * cy * cz}, {-sy * sz, sx * cy * sz, cx * cy * sz}, {-cy, -sx * sy, -cx * sy}},
                          {{-cy * sz, -sx * sy * sz - cx * cz, -cx * sy * sz + sx * cz},
                           {cy * cz, sx * sy * cz - cx * sz, cx * sy * cz + sx * sz},
                           {0, 0, 0}}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) {
            out.at[i][k] = k < 3 ? rotation[i][k] : offset[i];
            for (int d = 0; d < directions; d++) out.speed[i][k][d] = 0;
            for (int x = 0; x < 3 && k < 3; x++)
                if (speeds[x])
                    for (int d = 0; d < directions; d++) out.speed[i][k][d] += by[x][i][k] * speeds[x][d];
        }
}

// out = a*b
static void multiply(const Transform &a, const Transform &b, Transform &out) {
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) {
            double sum = k == 3 ? a.at[i][3] : 0;
            double speed[directions];
            for (int d = 0; d < directions; d++) speed[d] = k == 3 ? a.speed[i][3][d] : 0;
            for (int j = 0; j < 3; j++) {
                sum += a.at[i][j] * b.at[j][k];
                for (int d = 0; d < directions; d++) speed[d] += a.speed[i][j][d] * b.at[j][k] + a.at[i][j] * b.speed[j][k][d];
            }
            out.at[i][k] = sum;
            for (int d = 0; d < directions; d++) out.speed[i][k][d] = speed[d];
        }
}

// out = a*b for a transform b that stays.
static void multiply(const Transform &a, const double (*b)[4], Transform &out) {
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) {
            double sum = 0, speed[directions] = {};
            for (int j = 0; j < 4; j++) {
                sum += a.at[i][j] * b[j][k];
                for (int d = 0; d < directions; d++) speed[d] += a.speed[i][j][d] * b[j][k];
            }
            out.at[i][k] = sum;
            for (int d = 0; d < directions; d++) out.speed[i][k][d] = speed[d];
        }
}

int main(int argc, char **argv) {
    Array pose = values(80, pose_size, 1), direction = values(81, directions * pose_size, 1), offset = values(82, bones * 3, 0.3);
    std::vector<double> along(pose_size * directions); // the directions, by angle
    for (int d = 0; d < directions; d++)
        for (int a = 0; a < pose_size; a++) along[a * directions + d] = direction[d * pose_size + a];
    Array skin = values(83, 3 * points, 1), weight = uniform(84, bones * points), seen = values(85, points * 3, 1);
    for (double &w : weight) w /= bones / 2;
    std::vector<int> point = labels(86, points, points);
    int at[bones][3];
    angles_of(at);
    static double rest[bones][4][4];
    for (int b = 0; b < bones; b++)
        for (int i = 0; i < 4; i++) {
            rest[b][i][i] = 1;
            if (i < 3) rest[b][i][3] = -offset[b * 3 + i] + (b > 0 ? rest[parent(b)][i][3] : 0);
        }

    static Transform local, world[bones], moved[bones];
    static double posed[points][3], speed[points][3][directions];
    static double far[points][3], far_speed[points][3][directions];
    auto step = [&] {
        for (int b = 0; b < bones; b++) {
            double angle[3] = {};
            double *speeds[3] = {};
            for (int x = 0; x < 3; x++)
                if (at[b][x] >= 0) {
                    angle[x] = pose[at[b][x]];
                    speeds[x] = &along[at[b][x] * directions];
                }
            if (b == 0) {
                turn(angle, speeds, &offset[0], world[0]);
            } else {
                turn(angle, speeds, &offset[b * 3], local);
                multiply(world[parent(b)], local, world[b]);
            }
            multiply(world[b], rest[b], moved[b]);
        }
        for (int v = 0; v < points; v++) {
            double sum[3] = {}, sums[3][directions] = {};
            for (int b = 0; b < bones; b++) {
                double w = weight[b * points + v];
                double x[4] = {w * skin[v], w * skin[points + v], w * skin[2 * points + v], w};
                for (int i = 0; i < 3; i++)
                    for (int k = 0; k < 4; k++) {
                        sum[i] += moved[b].at[i][k] * x[k];
                        for (int d = 0; d < directions; d++) sums[i][d] += moved[b].speed[i][k][d] * x[k];
                    }
            }
            for (int i = 0; i < 3; i++) {
                posed[v][i] = sum[i];
                for (int d = 0; d < directions; d++) speed[v][i][d] = sums[i][d];
            }
        }
        for (int s = 0; s < points; s++)
            for (int i = 0; i < 3; i++) {
                far[s][i] = seen[s * 3 + i] - posed[point[s]][i];
                for (int d = 0; d < directions; d++) far_speed[s][i][d] = -speed[point[s]][i][d];
            }
        return 0.0;
    };
    auto check = [&] {
        Array first(&far[0][0], &far[0][0] + points * 3), second(directions * points * 3);
        for (int d = 0; d < directions; d++)
            for (int k = 0; k < points * 3; k++) second[d * points * 3 + k] = (&far_speed[0][0][0])[k * directions + d];
        return checksum(0, first) + checksum(1, second);
    };
    return measure("chain", argc, argv, false, step, check);
}
